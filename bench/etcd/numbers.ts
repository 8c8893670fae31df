import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { EtcdServer } from '@leasehold/testing/etcd-server'
import type { NumberReport } from '../support/benchmark.js'
import { growthOf } from '../support/counters.js'
import { measureHandOvers } from '../support/hand-over.js'
import { mapLimited } from '../support/lanes.js'
import { processorTime } from '../support/processor-time.js'
import { percentile } from '../support/statistics.js'
import { shown, table } from '../support/table.js'
import { type Contender, contenders } from './contenders.js'

const CYCLES = 300
const PROGRAM_CYCLES = 30
const HELD = 10_000

/** How many are acquired at the same time. */
const LANES = 20

/** How long the acquisition of all of them may take, in milliseconds. */
const LONGEST_ACQUIRING = 60_000

/** For how long leases are held while the server is measured, in milliseconds. */
const HOLDING = 30_000

/** Entries that a majority has in its log. */
const COMMITTED = 'etcd_server_proposals_committed_total'

/** One lock taken and given back, again and again, by one client. */
export async function reportCycles(server: EtcdServer): Promise<NumberReport> {
  const rows: string[][] = []
  for (const contender of contenders) {
    const session = contender.open(server)
    const lock = session.lock(`cycles-${randomUUID()}`)
    const times: number[] = []
    const count = contender.isProcess === true ? PROGRAM_CYCLES : CYCLES
    // The first ones are not counted.
    for (let round = -count / 10; round < count; round += 1) {
      if (round === 0) times.length = 0
      const start = performance.now()
      await lock.acquire()
      await lock.release()
      times.push(performance.now() - start)
    }
    const before = await server.metric(COMMITTED)
    for (let round = 0; round < 10; round += 1) {
      await lock.acquire()
      await lock.release()
    }
    const writes = ((await server.metric(COMMITTED)) - before) / 10
    await session.close()
    rows.push([contender.name, ...[percentile(times, 0.5), percentile(times, 0.99), writes].map(shown)])
  }
  return {
    title: 'Acquire and release',
    body: table('library | p50, ms | p99, ms | writes to the log a cycle', rows),
  }
}

/** From the call of a release to the grant of the next waiter. */
export async function reportHandOver(server: EtcdServer, waiters: number): Promise<NumberReport> {
  const rows: string[][] = []
  for (const contender of contenders) {
    if (contender.isProcess === true && waiters > 10) continue
    const session = contender.open(server)
    const waiting = {
      prefix: randomUUID(),
      hold: async (name: string) => {
        const lock = session.lock(name)
        await lock.acquire()
        return () => lock.release()
      },
      arrive: async (begin: () => void) => begin(),
      // Until all of them stand in line.
      allWait: () => pause(1_000 + 20 * waiters),
      count: async () => [],
      countsLastRelease: true,
    }
    const { latencies } = await measureHandOvers(waiting, { waiters, rounds: waiters === 1 ? 20 : 2 })
    await session.close()
    rows.push([contender.name, ...[0.5, 0.9, 1].map((part) => shown(percentile(latencies, part)))])
  }
  return {
    title: `Hand-over, ${waiters} ${waiters === 1 ? 'waiter' : 'waiters'}`,
    body: table('library | p50, ms | p90, ms | longest, ms', rows),
  }
}

/** The server while many locks are held, all by one client. Only ours and etcd3 can: etcdctl takes a process for each. */
export async function reportHolding(server: EtcdServer): Promise<NumberReport> {
  const rows: string[][] = []
  for (const contender of contenders) {
    if (contender.isProcess === true) continue
    const session = contender.open(server)
    const begun = performance.now()
    const { held, failures } = await acquireMany(session)
    const acquired = performance.now() - begun
    const read = async () => ({
      seconds: await server.metric('process_cpu_seconds_total'),
      own: processorTime(),
      keepAlives: await server.metric('etcd_debugging_lease_renewed_total'),
      committed: await server.metric(COMMITTED),
    })
    const growth = await growthOf(read, () => pause(HOLDING))
    rows.push([
      contender.name,
      shown(held),
      shown(acquired / 1_000),
      shown(failures),
      `${shown((growth.seconds / HOLDING) * 100_000)} %`,
      `${shown((growth.own / HOLDING) * 100)} %`,
      shown(growth.keepAlives),
      shown(growth.committed),
    ])
    console.error(rows.at(-1)?.join(' | '))
    await session.close()
  }
  const seconds = HOLDING / 1_000
  const own = 'library | held | to acquire them, s | failed attempts | CPU of the server | CPU of the client'
  const head = `${own} | keep-alives in ${seconds} s | writes to the log in ${seconds} s`
  return { title: `${shown(HELD)} held leases`, body: table(head, rows) }
}

/** As many as can be had before the deadline. */
async function acquireMany(session: ReturnType<Contender['open']>): Promise<{ held: number; failures: number }> {
  const prefix = randomUUID()
  const locks = Array.from({ length: HELD }, (_, place) => session.lock(`${prefix}-${place}`))
  const until = performance.now() + LONGEST_ACQUIRING
  let held = 0
  let failures = 0
  await mapLimited(locks, LANES, async (lock) => {
    if (performance.now() > until) return
    try {
      await lock.acquire()
      held += 1
    } catch {
      failures += 1
    }
  })
  return { held, failures }
}
