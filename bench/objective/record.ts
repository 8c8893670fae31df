import { fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createLease, type LeaseStore, systemClock } from '@leasehold/core'
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { RedisLeaseStore } from '@leasehold/redis'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { Pool } from 'pg'

const HEARTBEATS = 20_000

/** Between two heartbeats, in milliseconds: a burst of the load then slows few of them. */
const PAUSE = 4

/** The connections of the load. */
const CLIENTS = 12

/** How long each load lasts, and the pause after it, in milliseconds. */
const LOAD = 6_000
const CALM = 4_000

/** Records heartbeats to local servers under load, for the simulated lease-days. Run by itself, it records all kinds. */
async function record(kind: string): Promise<void> {
  const server = await startServer(kind)
  const load = fork(fileURLToPath(import.meta.url), [kind, server.url], { execArgv: process.execArgv })
  const { store, close } = openStore(kind, server.url)
  try {
    const durations = await measure(store)
    const path = new URL(`../../packages/core/test/objective/recorded-${kind}-under-load.json`, import.meta.url)
    writeFileSync(path, `${JSON.stringify({ heartbeats: durations.length, durations: counted(durations) })}\n`)
  } finally {
    load.kill()
    await close()
    await server.stop()
  }
}

async function measure(store: LeaseStore): Promise<number[]> {
  const lease = createLease(store, 'recorded', { strategy: 'manual', heartbeatTimeout: 120_000 })
  await lease.acquire({ wait: 10_000 })
  const durations: number[] = []
  while (durations.length < HEARTBEATS) {
    const sentAt = systemClock.now()
    await lease.renew()
    durations.push(systemClock.now() - sentAt)
    await sleep(PAUSE)
  }
  await lease.release()
  return durations
}

/** How often each duration was seen: two digits of its milliseconds are enough. */
function counted(durations: readonly number[]): [duration: number, count: number][] {
  const counts = new Map<number, number>()
  for (const duration of durations) {
    const rounded = Number(duration.toPrecision(2))
    counts.set(rounded, (counts.get(rounded) ?? 0) + 1)
  }
  return [...counts].sort(([one], [other]) => one - other)
}

async function startServer(kind: string): Promise<RedisServer | PostgresServer> {
  if (kind === 'redis') return await RedisServer.start({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
  const server = await PostgresServer.start({ settings: { fsync: 'on', synchronous_commit: 'on' } })
  const pool = new Pool({ connectionString: server.url })
  await migrate(pool)
  await pool.end()
  return server
}

function openStore(kind: string, url: string): { readonly store: LeaseStore; close(): Promise<void> } {
  if (kind === 'redis') {
    const redis = new Redis(url)
    const store = new RedisLeaseStore(redis)
    const close = async (): Promise<void> => {
      await store.close()
      redis.disconnect()
    }
    return { store, close }
  }
  const pool = new Pool({ connectionString: url, max: 2 })
  const store = new PostgresLeaseStore(pool)
  const close = async (): Promise<void> => {
    await store.close()
    await pool.end()
  }
  return { store, close }
}

/** Loads the server again and again, until this process is ended. */
async function load(kind: string, url: string): Promise<void> {
  const work = kind === 'redis' ? redisWork(url) : await postgresWork(url)
  for (;;) {
    const until = systemClock.now() + LOAD
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, client) => {
        while (systemClock.now() < until) await work(client)
      }),
    )
    await sleep(CALM)
  }
}

/** Writes of 200 KB; one client reads all keys, and saves the data set. */
function redisWork(url: string): (client: number) => Promise<unknown> {
  const redis = new Redis(url)
  const text = 'x'.repeat(200_000)
  let writes = 0
  return async (client) => {
    writes += 1
    if (client > 0) return await redis.set(`load-${writes % 2_000}`, text)
    if (writes % 10 === 0) await redis.bgsave().catch(() => undefined)
    return await redis.keys('*')
  }
}

/** Changes of rows that are contended; one client sorts all rows, and writes a checkpoint. */
async function postgresWork(url: string): Promise<(client: number) => Promise<unknown>> {
  const pool = new Pool({ connectionString: url, max: CLIENTS })
  await pool.query("CREATE TABLE load AS SELECT id, repeat('x', 400) AS text FROM generate_series(1, 50000) AS id")
  await pool.query('CREATE UNIQUE INDEX ON load (id)')
  let writes = 0
  return async (client) => {
    writes += 1
    if (client > 0) return await pool.query("UPDATE load SET text = text || '' WHERE id % 500 = $1", [writes % 500])
    await pool.query('SELECT text FROM load ORDER BY md5(text || id) LIMIT 1')
    return await pool.query('CHECKPOINT')
  }
}

const [kind, url] = process.argv.slice(2)
if (kind !== undefined && url !== undefined) await load(kind, url)
else for (const recorded of kind === undefined ? ['redis', 'postgres'] : [kind]) await record(recorded)
