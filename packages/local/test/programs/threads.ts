/**
 * `threads.cjs FOLDER COUNT ID`: terminates COUNT threads, each at a random instant, uses the folder itself meanwhile, and
 * prints its grants and errors. The instants are drawn from the seed ID.
 */

import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Grant } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { machineTime } from '@leasehold/core/store-kit'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'

const [, program = '', folder = '', count = '0', id = ''] = process.argv
const THREAD = join(dirname(program), 'thread.cjs')
const AT_ONCE = 3
/** For how long a thread runs at most before it is terminated, in milliseconds: since its start, since its first grant. */
const LONGEST_START = 60
const LONGEST_WORK = 3
const call = new AbortableCall()

process.stdin.on('end', () => process.exit()).resume()

function print(message: object): void {
  process.stdout.write(`${JSON.stringify({ ...message, at: machineTime() })}\n`)
}

function printGrant({ name, grantId, fencingToken }: Grant): void {
  print({ name, grantId, token: String(fencingToken) })
}

let state = Number(id) + 1

/** The next number of a linear congruential generator, from 0 to 1. */
function random(): number {
  state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
  return state / 2 ** 32
}

let started = 0
let terminated = 0

async function terminate(): Promise<void> {
  while (started < Number(count)) {
    started += 1
    const workerData = { folder, kept: `kept ${id} ${started}` }
    const worker = new Worker(THREAD, { workerData })
    worker.on('error', ({ name, message }) => print({ error: name, message }))
    const isEarly = random() < 0.5
    await new Promise<void>((resolve) => {
      if (isEarly) worker.once('online', resolve)
      worker.on('message', ({ grant }: { readonly grant: Grant }) => {
        printGrant(grant)
        resolve()
      })
    })
    await pause(random() * (isEarly ? LONGEST_START : LONGEST_WORK))
    await worker.terminate()
    terminated += 1
    print({ terminated })
  }
}

/** Uses the folder until all are terminated; returns the longest that one operation took, in milliseconds. */
async function use(): Promise<number> {
  const store = new LocalLeaseStore({ folder })
  const guard = new LocalGuard({ folder })
  const requested = { name: `own ${id}`, owner: id, grantId: `own ${id}`, ttl: 3_600_000 }
  const own = await store.acquire(requested, call)
  if (!own.granted) throw new Error('a free lease was refused')
  let longest = 0
  for (let turn = 0; terminated < Number(count); turn += 1) {
    const before = machineTime()
    const { renewed } = await store.renew(own.grant, call)
    if (!renewed) print({ error: 'lost', message: 'a grant that is in force was lost' })
    const middle = machineTime()
    guard.transact(`own ${id}`, own.grant.fencingToken, () => {})
    longest = Math.max(longest, middle - before, machineTime() - middle)
    const outcome = await store.acquire({ name: 'shared', owner: id, grantId: `main ${id} ${turn}`, ttl: 300 }, call)
    if (outcome.granted) {
      printGrant(outcome.grant)
      await store.release(outcome.grant, call)
    }
    await pause(5)
  }
  await guard.close()
  await store.close()
  return longest
}

async function run(): Promise<void> {
  const [longest] = await Promise.all([use(), ...Array.from({ length: AT_ONCE }, terminate)])
  print({ longest })
  process.exit()
}

void run()
