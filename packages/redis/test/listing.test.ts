import { type LeaseRecord, type LeaseStore, systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, never } from '@leasehold/testing/job-claims'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { describe, expect, it } from 'vitest'
import type { Connection } from '../src/client/connection.js'
import { LazyConnection } from '../src/client/lazy-connection.js'
import { KeySpace } from '../src/key-space.js'
import { listRecords } from '../src/listing.js'
import { differingClusterLibraries } from './support/libraries.js'
import { Scene } from './support/scene.js'

/** Names that a pattern or a key could garble. */
const AWKWARD = ['a*', 'a?b', 'a[x]', 'a\\', 'a{b}', 'a b', 'a%2a', 'ä', 'a😀', 'a/b:c', 'a^-']

async function listed(store: LeaseStore, prefix: string): Promise<LeaseRecord[]> {
  const records: LeaseRecord[] = []
  for await (const record of store.list?.(prefix, new AbortableCall()) ?? []) records.push(record)
  return records
}

async function namesIn(store: LeaseStore, prefix: string): Promise<string[]> {
  return (await listed(store, prefix)).map(({ name }) => name).sort()
}

async function hold(store: LeaseStore, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => store.acquire(claimOf('a', { name, ttl: 60_000 }), never)))
}

/** The commands that the server has run so far, by name. */
async function commandsOf(server: RedisServer): Promise<Map<string, number>> {
  const stats = String(await server.command('INFO', 'commandstats'))
  return new Map(
    [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name = '', calls]) => [name, Number(calls)]),
  )
}

it('a listing yields a name once, although SCAN repeats its key, and skips keys that are not of leases', async () => {
  const keys = new KeySpace('leasehold:')
  const pages = [
    ['leasehold:{a}', 'leasehold:{b}', 'leasehold:{a}'],
    ['leasehold:%floor', 'leasehold:{b}', 'leasehold:{c%zz}'],
    [],
  ]
  const scan = (cursor: string): Promise<unknown> => {
    const next = Number(cursor) + 1
    return Promise.resolve([String(next % pages.length), pages[Number(cursor)]])
  }
  const adapter = {
    clustered: false,
    subscribes: true,
    keyPrefix: '',
    run: () => Promise.reject(new Error('unused')),
    newConnection: () => {
      const connect = (): Promise<void> => Promise.resolve()
      return { connect, scans: () => Promise.resolve([scan]), onEnd: () => {} } as unknown as Connection
    },
  }
  const readPage = (names: readonly string[]): Promise<LeaseRecord[]> => {
    return Promise.resolve(
      names.map((name) => ({ ...claimOf('x', { name }), fencingToken: 1n, state: 'leased', metadata: {} })),
    )
  }
  const names: string[] = []
  const connection = new LazyConnection(adapter, systemClock)
  for await (const { name } of listRecords(connection, keys, '', readPage, new AbortableCall())) names.push(name)
  expect(names).toEqual(['a', 'b'])
})

describeRedis('a listing', () => {
  describe.each(differingClusterLibraries)('by $name', { timeout: 90_000 }, (library) => {
    it('yields the records of all names with a prefix, as they were given', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store(library.server(server))
        const others = ['b', 'ba', 'A']
        await hold(store, [...AWKWARD, ...others])
        await server.command('SET', 'leasehold:{other}', 'data')
        await server.command('HSET', 'leasehold:{hash}', 'field', 'data')
        expect(await namesIn(store, '')).toEqual([...AWKWARD, ...others].sort())
        expect(await namesIn(store, 'a')).toEqual(AWKWARD.filter((name) => name.startsWith('a')).sort())
        for (const name of AWKWARD) expect(await namesIn(store, name)).toContain(name)
        expect(await namesIn(store, '😀'.slice(0, 1))).toEqual([])
        const record = await store.read('a*', never)
        expect(await listed(store, 'a*')).toEqual([{ ...record, remaining: expect.any(Number) }])
        await store.release({ ...claimOf('a', { name: 'a*' }), fencingToken: 0n }, never)
        expect(await listed(store, 'a*')).toMatchObject([{ name: 'a*', state: 'available' }])
      })
    })

    it('reads all masters of a cluster', async () => {
      await Scene.play(async (scene) => {
        const { nodes } = await scene.cluster()
        const names = Array.from({ length: 700 }, (_, index) => `job-${index}`)
        const store = scene.store(library.cluster(nodes))
        await hold(store, names)
        await hold(store, ['other'])
        expect(await namesIn(store, 'job-')).toEqual([...names].sort())
        const tagged = scene.store(library.cluster(nodes), { prefix: '{leases}:' })
        await hold(tagged, names)
        expect(await namesIn(tagged, 'job-')).toEqual([...names].sort())
      })
    })

    it('yields each of 100,000 names once, in small pages, beside other work', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store(library.server(server))
        const grants = Array.from({ length: 100_000 }, (_, index) =>
          claimOf('a', { name: `job-${index}`, ttl: 600_000 }),
        )
        for (let from = 0; from < grants.length; from += 5_000) {
          await Promise.all(grants.slice(from, from + 5_000).map((claim) => store.acquire(claim, never)))
        }
        const before = await commandsOf(server)
        let slowest = 0
        let isOver = false
        const beside = (async () => {
          while (!isOver) {
            const start = systemClock.now()
            await store.read('job-1', never)
            slowest = Math.max(slowest, systemClock.now() - start)
          }
        })()
        const names = new Set<string>()
        let count = 0
        for await (const { name } of store.list('job-', new AbortableCall())) {
          names.add(name)
          count += 1
        }
        isOver = true
        await beside
        expect([names.size, count]).toEqual([100_000, 100_000])
        const after = await commandsOf(server)
        expect(after.get('keys')).toBeUndefined()
        expect((after.get('scan') ?? 0) - (before.get('scan') ?? 0)).toBeGreaterThan(300)
        expect(slowest).toBeLessThan(1_000)
      })
    })

    it('ends at once when it is aborted', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const proxy = await scene.proxy(server)
        const store = scene.store(library.server(proxy))
        await hold(store, ['a'])
        proxy.blackHole()
        const call = new AbortableCall()
        const next = store.list('', call)[Symbol.asyncIterator]().next()
        call.abort(new Error('given up'))
        await expect(next).rejects.toThrow('given up')
        expect(call.listeners).toBe(0)
      })
    })
  })
})
