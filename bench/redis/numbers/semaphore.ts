import { setTimeout as pause } from 'node:timers/promises'
import { createLease } from '@leasehold/core'
import { ReadWriteLease, Semaphore } from '@leasehold/recipes'
import { RedisLeaseStore } from '@leasehold/redis'
import type { NumberReport } from '../../support/benchmark.js'
import { median } from '../../support/statistics.js'
import { shown, table } from '../../support/table.js'
import { connected, openClient, type RedisClient, rivals } from '../redis-client.js'
import { SentCommands } from '../sent-commands.js'

const PERMITS = 3
const CLIENTS = 4
/** For how long each holds its permit, in milliseconds. */
const WORK = 5
const WAITERS = [1, 10, 100, 1_000] as const
const TIME_LIMIT = 30_000
const CYCLES = 300
const MOST_COMMANDS = 12

interface RivalSemaphore {
  acquire(): Promise<void>
  release(): Promise<void>
}

interface RivalPackage {
  readonly Semaphore: new (client: RedisClient, key: string, limit: number, options: object) => RivalSemaphore
}

/** Works under a permit; `enter` resolves with the function that leaves. */
type Enter = () => Promise<() => Promise<unknown>>

interface Turns {
  readonly commands: number
  readonly served: number
  readonly asked: number
  /** From the first hand-over to the last one, or to the time limit. Milliseconds. */
  readonly duration: number
}

/** Store calls per hand-over of a semaphore, ours and that of redis-semaphore, and a read lock beside a plain lease. */
export async function reportSemaphore(port: number): Promise<NumberReport> {
  const sent = new SentCommands()
  const clients = Array.from({ length: CLIENTS }, () => openClient(port))
  await Promise.all(clients.map(connected))
  const stores = clients.map((client) => new RedisLeaseStore(client as unknown as OwnClient))
  const rows: string[][] = []
  const failures: string[] = []
  for (const waiters of WAITERS) {
    const name = `semaphore-${waiters}`
    const semaphores = stores.map((store) => new Semaphore(store, { name, permits: PERMITS }))
    const own = await handOvers(sent, waiters, (place) => async () => {
      const permit = await semaphores[place % CLIENTS]?.acquire({ wait: Number.POSITIVE_INFINITY })
      return async () => permit?.release()
    })
    const { Semaphore: Rival } = rivals.load<RivalPackage>('redis-semaphore')
    const other = await handOvers(sent, waiters, (place) => async () => {
      const options = { lockTimeout: 30_000, acquireTimeout: TIME_LIMIT }
      const semaphore = new Rival(clients[place % CLIENTS] as RedisClient, `other-${name}`, PERMITS, options)
      await semaphore.acquire()
      return () => semaphore.release()
    })
    const perHandOver = own.commands / own.served
    if (perHandOver > MOST_COMMANDS) {
      failures.push(`${shown(perHandOver)} commands for each hand-over of a semaphore while ${waiters} wait`)
    }
    rows.push([String(waiters), ...cells(own), ...cells(other)])
  }
  const reading = await cycles(sent, stores)
  for (const store of stores) await store.close()
  for (const client of clients) client.disconnect()
  const head = 'waiters | commands, ours | ms | served | commands, redis-semaphore | ms | served'
  const body = [
    `A semaphore with ${PERMITS} permits, each held for ${WORK} ms. Commands that the clients sent, and milliseconds, for ` +
      `each permit served. At most ${TIME_LIMIT / 1_000} s.`,
    table(head, rows),
    'A read lock and a plain lease, acquired and released without contention.',
    table(' | commands | median, ms', reading),
  ].join('\n\n')
  return { title: 'A semaphore and a read lock', body, failures }
}

type OwnClient = ConstructorParameters<typeof RedisLeaseStore>[0]

function cells({ commands, served, asked, duration }: Turns): readonly string[] {
  return [shown(commands / served), shown(duration / served), `${served} of ${asked}`]
}

async function handOvers(sent: SentCommands, waiters: number, enterFor: (place: number) => Enter): Promise<Turns> {
  const leave = []
  for (let place = 0; place < PERMITS; place += 1) leave.push(await enterFor(place)())
  let served = 0
  const answered = sent.answered + waiters
  const turns = Array.from({ length: waiters }, async (_, place) => {
    const left = await enterFor(place)()
    await pause(WORK)
    await left()
    served += 1
  })
  await allAsked(sent, answered)
  const before = sent.count
  const start = performance.now()
  await Promise.all(leave.map((left) => left()))
  const limit = new AbortController()
  await Promise.race([
    Promise.allSettled(turns),
    pause(TIME_LIMIT, undefined, { signal: limit.signal }).catch(() => {}),
  ])
  limit.abort()
  const result = { commands: sent.count - before, served, asked: waiters, duration: performance.now() - start }
  await Promise.allSettled(turns)
  return result
}

/**
 * Resolves when every waiter has asked: those that queue send nothing more, and each of those that poll has sent a command. On
 * a busy machine this takes longer than on another.
 */
async function allAsked(sent: SentCommands, answered: number): Promise<void> {
  for (let quiet = 0; quiet < 4 && sent.answered < answered; ) {
    await pause(50)
    quiet = sent.answered === sent.count ? quiet + 1 : 0
  }
}

async function cycles(sent: SentCommands, stores: readonly RedisLeaseStore[]): Promise<string[][]> {
  const [store] = stores
  if (store === undefined) return []
  const { shared } = new ReadWriteLease(store, { name: 'read', readers: 10 })
  const subjects = { 'a read lock': shared, 'a plain lease': createLease(store, 'plain') }
  const rows: string[][] = []
  for (const [name, lease] of Object.entries(subjects)) {
    await lease.acquire()
    await lease.release()
    const before = sent.count
    const times: number[] = []
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const start = performance.now()
      await lease.acquire()
      await lease.release()
      times.push(performance.now() - start)
    }
    rows.push([name, shown((sent.count - before) / CYCLES), shown(median(times))])
  }
  return rows
}
