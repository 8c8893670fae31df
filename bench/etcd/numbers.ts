import { randomUUID } from 'node:crypto'
import type { EtcdServer } from '@leasehold/testing/etcd-server'
import { type Contender, contenders, type Lock } from './contenders.js'
import { percentile, shown, table } from './statistics.js'

const CYCLES = 300
const PROGRAM_CYCLES = 30
const HELD = 10_000

/** How many are acquired at the same time. */
const LANES = 20

/** For how long leases are held while the server is measured, in milliseconds. */
const HOLDING = 30_000

const APPLIED = 'etcd_server_proposals_applied_total'
const CPU = 'process_cpu_seconds_total'

export interface Report {
  readonly title: string
  readonly body: string
}

/** One lock taken and given back, again and again, by one client. */
export async function reportCycles(server: EtcdServer): Promise<Report> {
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
    const before = await server.metric(APPLIED)
    for (let round = 0; round < 10; round += 1) {
      await lock.acquire()
      await lock.release()
    }
    const writes = ((await server.metric(APPLIED)) - before) / 10
    await session.close()
    rows.push([contender.name, shown(percentile(times, 0.5), 2), shown(percentile(times, 0.99), 2), shown(writes)])
  }
  return {
    title: 'Acquire and release',
    body: table(['library', 'p50, ms', 'p99, ms', 'writes to the log a cycle'], rows),
  }
}

/** From the call of a release to the grant of the next waiter. */
export async function reportHandOver(server: EtcdServer, waiters: number): Promise<Report> {
  const rows: string[][] = []
  for (const contender of contenders) {
    if (contender.isProcess === true && waiters > 10) continue
    const times: number[] = []
    const rounds = waiters === 1 ? 20 : 2
    for (let round = 0; round < rounds; round += 1) times.push(...(await handOvers(contender, server, waiters)))
    const most = shown(percentile(times, 1), 2)
    rows.push([contender.name, shown(percentile(times, 0.5), 2), shown(percentile(times, 0.9), 2), most])
  }
  return {
    title: `Hand-over, ${waiters} ${waiters === 1 ? 'waiter' : 'waiters'}`,
    body: table(['library', 'p50, ms', 'p90, ms', 'longest, ms'], rows),
  }
}

async function handOvers(contender: Contender, server: EtcdServer, waiters: number): Promise<number[]> {
  const session = contender.open(server)
  const name = `hand-over-${randomUUID()}`
  const holder = session.lock(name)
  await holder.acquire()
  const times: number[] = []
  let released = 0
  const release = async (lock: Lock): Promise<void> => {
    released = performance.now()
    await lock.release()
  }
  const served = Array.from({ length: waiters }, async () => {
    const lock = session.lock(name)
    await lock.acquire()
    times.push(performance.now() - released)
    await new Promise((resolve) => setTimeout(resolve, 5))
    await release(lock)
  })
  // Until all of them stand in line.
  await new Promise((resolve) => setTimeout(resolve, 1_000 + 20 * waiters))
  await release(holder)
  await Promise.all(served)
  await session.close()
  return times
}

/** The server while many locks are held, all by one client. */
export async function reportHolding(server: EtcdServer): Promise<Report> {
  const rows: string[][] = []
  for (const contender of contenders) {
    if (contender.isProcess === true) continue
    const session = contender.open(server)
    const prefix = randomUUID()
    const locks = Array.from({ length: HELD }, (_, place) => session.lock(`${prefix}-${place}`))
    const waiting = locks.values()
    let failures = 0
    const start = performance.now()
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        for (const lock of waiting) {
          while (
            !(await lock.acquire().then(
              () => true,
              () => false,
            ))
          ) {
            failures += 1
            await new Promise((resolve) => setTimeout(resolve, 100))
          }
        }
      }),
    )
    const acquired = performance.now() - start
    const before = { cpu: await server.metric(CPU), applied: await server.metric(APPLIED), own: process.cpuUsage() }
    await new Promise((resolve) => setTimeout(resolve, HOLDING))
    const cpu = ((await server.metric(CPU)) - before.cpu) / (HOLDING / 1_000)
    const applied = (await server.metric(APPLIED)) - before.applied
    const { user, system } = process.cpuUsage(before.own)
    const own = (user + system) / 1_000 / HOLDING
    rows.push([
      contender.name,
      shown(acquired / 1_000),
      shown(failures, 0),
      `${shown(cpu * 100, 2)} %`,
      `${shown(own * 100, 2)} %`,
      shown(applied, 0),
      shown(await server.metric('etcd_debugging_lease_granted_total'), 0),
    ])
    console.error(rows.at(-1)?.join(' | '))
    await session.close()
  }
  const head = [
    'library',
    'to acquire them, s',
    'failed attempts',
    'CPU of the server',
    'CPU of the client',
    'writes to the log in 30 s',
    'server leases so far',
  ]
  return { title: `${shown(HELD)} held leases`, body: table(head, rows) }
}
