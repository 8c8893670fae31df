/** Measures the memory of guarded actors that wait for their lease, many of them in one system. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { leaseGuarded } from '@leasehold/actor'
import { fromTransition } from 'xstate'
import { populate } from '../test/support/population.js'
import { type Bound, report } from './support/bound.js'
import { IdleLease } from './support/idle-lease.js'

const ACTORS = 100_000

const worker = fromTransition((count: number, _event: { type: 'add' }) => count + 1, 0)

function collect(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function weigh(name: string, answer: 'none' | 'deny' | 'grant', atMost: number): Promise<Bound> {
  const logic = leaseGuarded(worker, { lease: new IdleLease(answer), retryInterval: 30_000 })
  const before = collect()
  const population = populate(logic, ACTORS, { realTime: true })
  await nextTurn()
  const measured = (collect() - before) / ACTORS
  population.stopAll()
  return { name, measured, atMost, unit: 'bytes' }
}

if (globalThis.gc === undefined) throw new Error('run it with --expose-gc')
const bounds = [
  await weigh('acquiringLease, an attempt under way', 'none', 2_048),
  await weigh('acquiringLease, waiting for the retry', 'deny', 2_048),
  await weigh('active, with its worker and port', 'grant', Number.POSITIVE_INFINITY),
]
report(`heap of a guarded actor, ${ACTORS} of them in one system`, bounds)
