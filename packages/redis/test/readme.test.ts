import { setTimeout as sleep } from 'node:timers/promises'
import { LeaseLostError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { RedisGuard } from '@leasehold/redis'
import { turnsOf } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { UpstashFront } from '@leasehold/testing/upstash-front'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { dailyReport } from '../../../examples/serverless/src/daily-report.js'
import { bookSeat } from './readme/book-seat.js'
import { sendInvoices, storeForLocks } from './readme/move-from-redlock.js'
import { provideLeases } from './readme/own-client.js'
import { rebuildOnce } from './readme/rebuild-index.js'
import { RedisSentinel } from './support/redis-sentinel.js'
import { storedLease } from './support/stored-lease.js'

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

describeRedis('the examples of the documents', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await RedisServer.start()
  })

  afterAll(() => server.stop())

  afterEach(() => void vi.unstubAllEnvs())

  it('gives two processes with the first program of the guide their turns', async () => {
    expect(new Set(await turnsOf(firstLease, { REDIS_URL: server.url })).size).toBe(2)
  })

  it.each(['iovalkey', 'glide'])('gives two processes with the first program for %s their turns', async (client) => {
    const program = new URL(`./readme/first-lease-${client}.mjs`, import.meta.url)
    expect(new Set(await turnsOf(program, { VALKEY_URL: server.url })).size).toBe(2)
  })

  it('gives two processes with the first program for @upstash/redis their turns', async () => {
    const program = new URL('./readme/first-lease-upstash.mjs', import.meta.url)
    const front = await UpstashFront.start()
    const { url, token } = front.access(server)
    const environment = { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token }
    expect(new Set(await turnsOf(program, environment)).size).toBe(2)
    await front.stop()
  })

  it('gives the calls of a serverless function one report for each day, and leaves no lease behind', async () => {
    const front = await UpstashFront.start()
    const { url, token } = front.access(server)
    vi.stubEnv('UPSTASH_REDIS_REST_URL', url)
    vi.stubEnv('UPSTASH_REDIS_REST_TOKEN', token)
    const { store } = await import('./readme/upstash-store.js')
    let written = 0
    const handlers = [1, 2].map(() =>
      dailyReport(store, async (day) => {
        written += 1
        await sleep(300)
        return `${day}.pdf`
      }),
    )
    const call = async (place: 0 | 1) =>
      await handlers[place]?.(new Request('https://app.example/report?day=2026-11-29'))
    const [first, second] = await Promise.all([call(0), call(1)])
    expect(front.requests).toBeLessThanOrEqual(7)
    expect([first?.status, second?.status].sort()).toEqual([200, 202])
    // The release was awaited: the record says so before anything else is done.
    expect(await storedLease(server, 'leasehold:{daily-report/2026-11-29}')).toMatchObject({ state: 'available' })
    for (const place of [0, 1] as const) {
      expect(await (await call(place))?.json()).toEqual({ day: '2026-11-29', report: '2026-11-29.pdf' })
    }
    expect(written).toBe(1)
    const before = front.requests
    await call(0)
    // A day whose report is written costs one command.
    expect(front.requests - before).toBe(1)
    await front.stop()
    expect((await handlers[0]?.(new Request('https://app.example/report?day=2026-11-30')))?.status).toBe(503)
    await store.close()
  })

  it('writes under the lease and the guard', async () => {
    await rebuildOnce(server.url, async () => 'first')
    await rebuildOnce(server.url, async () => 'second')
    expect(await server.command('GET', 'index:latest')).toBe('second')
    const lease = await storedLease(server, 'leasehold:{index}')
    expect(lease).toMatchObject({ state: 'available' })
    expect(await server.command('GET', 'leasehold:fence:{index:latest}')).toBe(lease?.token)
  })

  it('runs a script under the guard', async () => {
    const redis = new Redis(server.url)
    const guard = new RedisGuard(redis)
    expect(await bookSeat(guard, 5n, 'LH1', '12A')).toBe(true)
    expect(await bookSeat(guard, 5n, 'LH1', '12A')).toBe(false)
    await expect(bookSeat(guard, 4n, 'LH1', '12B')).rejects.toBeInstanceOf(LeaseLostError)
    expect(await server.command('SMEMBERS', 'seats:LH1')).toEqual(['12A'])
    redis.disconnect()
  })

  it('holds the key of redlock beside the lease', async () => {
    const redis = new Redis(server.url)
    let keys: unknown
    await sendInvoices(redis, async () => {
      keys = await server.command('KEYS', '*invoices*')
    })
    expect((keys as string[]).sort()).toEqual(['invoices', 'leasehold:{invoices}'])
    expect(await server.command('EXISTS', 'invoices')).toBe(0)
    const store = storeForLocks(redis)
    await store.acquire({ name: '7', owner: 'anna', grantId: 'g', ttl: 10_000 }, new AbortableCall())
    expect(await server.command('GET', 'locks:7')).toBe('g')
    await store.close()
    redis.disconnect()
  })

  it('holds leases by a client of Sentinel that the caller has made', async () => {
    const sentinel = await RedisSentinel.start()
    const sentinels = sentinel.sentinels.map(({ port }) => ({ host: '127.0.0.1', port }))
    {
      await using provider = provideLeases(sentinel.name, sentinels, { job: { 'lease-class': 'our-redis' } })
      const lease = await provider.getLease('job', 'job')
      expect(await lease.acquire()).toBe(true)
      expect(await storedLease(await sentinel.master(), 'leasehold:{job}')).toMatchObject({ state: 'leased' })
    }
    await sentinel.stop()
  })
})
