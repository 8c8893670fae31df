import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, type Grant, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { AbortableCall, type AcquireOutcome, type StoreCall } from '@leasehold/core/store'
import { type RedisClient, RedisLeaseStore } from '@leasehold/redis'
import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { TcpProxy } from '@leasehold/testkit'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { it } from 'vitest'
import { storedLease } from '../../redis/test/support/stored-lease.js'

const forever = new AbortableCall()
const ttl = 2_000

/** All tests begin at once, and each starts its servers: until they have settled, requests take long. */
const wait = 20_000
const timeouts = { heartbeatTimeout: ttl, heartbeatInterval: 300, operationTimeout: 500 }

/** Three servers of a test's own. */
class Servers {
  readonly all: readonly [RedisServer, RedisServer, RedisServer]
  readonly name = `job-${randomUUID()}`
  readonly #stores: { close(): Promise<void> }[] = []

  private constructor(all: readonly [RedisServer, RedisServer, RedisServer]) {
    this.all = all
  }

  static async use(test: (servers: Servers) => Promise<void>): Promise<void> {
    const servers = new Servers(await Promise.all([RedisServer.start(), RedisServer.start(), RedisServer.start()]))
    try {
      await test(servers)
    } finally {
      await Promise.all(servers.#stores.map((store) => store.close()))
      await Promise.all(servers.all.map((server) => server.stop()))
    }
  }

  open(clients: readonly RedisClient[] = this.all.map(({ port }) => new Redis(port, { lazyConnect: true }))) {
    const store = new RedisQuorumLeaseStore(clients)
    this.#stores.push(store)
    return store
  }

  /** A store of one of the servers alone. */
  openOne({ port }: RedisServer): RedisLeaseStore {
    const store = new RedisLeaseStore(new Redis(port, { lazyConnect: true }))
    this.#stores.push(store)
    return store
  }

  request(owner: string) {
    return { name: this.name, owner, grantId: randomUUID(), ttl }
  }

  async field(server: RedisServer, field: 'owner' | 'metadata' | 'state' | 'token'): Promise<string> {
    if (field === 'owner' || field === 'metadata') return String(await server.command('HGET', this.#key, field))
    return String((await storedLease(server, this.#key))?.[field])
  }

  /** As if the server had given out tokens up to this one. */
  async countFrom(server: RedisServer, token: bigint): Promise<void> {
    const lease = String(await server.command('HGET', this.#key, 'lease'))
    await server.command('HSET', this.#key, 'lease', lease.slice(0, 27) + token + lease.slice(43))
  }

  get #key(): string {
    return `leasehold:{${this.name}}`
  }
}

/** A call that is aborted after this time, in milliseconds. */
function limitOf(duration: number): StoreCall {
  const call = new AbortableCall(duration)
  systemClock.schedule(duration, () => call.abort(new LeaseUnavailableError('time is up')))
  return call
}

function grantIn(outcome: AcquireOutcome): Grant {
  if (outcome.granted) return outcome.grant
  throw new Error(`refused: ${outcome.holder?.owner ?? 'no known owner'} holds it`)
}

async function tookOf(task: Promise<unknown>): Promise<number> {
  const since = systemClock.now()
  await task
  return systemClock.now() - since
}

describeRedis('a quorum of three servers', () => {
  it.concurrent('works with one dead server', async ({ expect }) => {
    await Servers.use(async (servers) => {
      const [one, other] = [servers.open(), servers.open()]
      await servers.all[1].kill()
      const grant = grantIn(await one.acquire(servers.request('one'), forever))
      expect(await other.acquire(servers.request('other'), forever)).toMatchObject({ holder: { owner: 'one' } })
      expect(await one.renew(grant, forever)).toEqual({ renewed: true })
      expect(await one.renewMany([grant], forever)).toEqual([{ renewed: true }])
      expect(await other.read(servers.name, forever)).toMatchObject({ ...grant, state: 'leased' })
      expect(await one.release(grant, forever)).toEqual({ released: true })
      expect(await other.acquire(servers.request('other'), forever)).toMatchObject({ granted: true })
    })
  })

  it.concurrent('does not wait for a frozen server', async ({ expect }) => {
    await Servers.use(async (servers) => {
      const store = servers.open()
      await store.release(grantIn(await store.acquire(servers.request('one'), forever)), forever)
      servers.all[2].freeze()
      // A server that is waited for takes as long as the call lets it.
      const call = limitOf(5_000)
      let took = 0
      for (let round = 0; round < 5; round += 1) {
        const asked = store.acquire(servers.request('one'), call)
        took = Math.max(took, await tookOf(asked))
        const grant = grantIn(await asked)
        took = Math.max(took, await tookOf(store.renew(grant, call)))
        took = Math.max(took, await tookOf(store.read(servers.name, call)))
        took = Math.max(took, await tookOf(store.release(grant, call)))
      }
      expect(took).toBeLessThan(1_000)
      servers.all[2].thaw()
      await eventually(
        'it is free there too',
        async () => (await servers.field(servers.all[2], 'state')) === 'available',
      )
    })
  })

  it.concurrent('grants nothing while two are dead, and a lease that is held ends in time', async ({ expect }) => {
    await Servers.use(async (servers) => {
      const [one, other] = [servers.open(), servers.open()]
      const held = createLease(one, servers.name, { ...timeouts, owner: 'one' })
      const lost: string[] = []
      expect(await held.acquire({ wait, onLost: ({ reason }) => lost.push(reason) })).toBe(true)
      const { signal } = held
      await servers.all[0].kill()
      await servers.all[1].kill()
      const since = systemClock.now()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      expect(systemClock.now() - since).toBeLessThan(ttl)
      expect([lost, held.checkLease()]).toEqual([['expired'], false])
      await sleep(ttl)
      await expect(other.acquire(servers.request('other'), limitOf(3_000))).rejects.toThrow(LeaseUnavailableError)
      await eventually('the last is free', async () => (await servers.field(servers.all[2], 'state')) === 'available')
    })
  })

  it.concurrent('keeps a lease while its servers are restarted in turn, without data', async ({ expect }) => {
    await Servers.use(async (servers) => {
      const [one, other] = [servers.open(), servers.open()]
      const held = createLease(one, servers.name, { ...timeouts, heartbeatTimeout: 10_000 })
      const lost: string[] = []
      await held.acquire({ wait, onLost: ({ reason }) => lost.push(reason), metadata: { host: 'a' } })
      const token = held.fencingToken ?? 0n
      for (const server of servers.all) {
        await server.restart()
        await eventually('it has the lease again', async () => (await servers.field(server, 'state')) === 'leased')
        expect(await servers.field(server, 'metadata')).toBe('{"host":"a"}')
        expect(BigInt(await servers.field(server, 'token'))).toBe(token)
      }
      expect([held.checkLease(), held.fencingToken, lost]).toEqual([true, token, []])
      const { owner } = held.settings
      expect(await other.read(servers.name, forever)).toMatchObject({
        owner,
        fencingToken: token,
        metadata: { host: 'a' },
      })
      expect(await other.acquire(servers.request('other'), forever)).toMatchObject({ granted: false })
      await held.release()
      const next = grantIn(await other.acquire(servers.request('other'), forever))
      expect(next.fencingToken).toBeGreaterThan(token)
    })
  })

  it.concurrent('takes back a grant without a majority', async ({ expect }) => {
    await Servers.use(async (servers) => {
      const [first, second, third] = servers.all
      await servers.openOne(first).acquire(servers.request('one'), forever)
      await servers.openOne(second).acquire(servers.request('other'), forever)
      const store = servers.open()
      // The servers have been used before, and do not have to learn their floor.
      await store.acquire({ ...servers.request('third'), name: 'another' }, forever)
      expect((await store.acquire(servers.request('third'), forever)).granted).toBe(false)
      await eventually('it is free', async () => (await servers.field(third, 'state')) === 'available')
      expect(await servers.field(third, 'owner')).toBe('third')
      expect([await servers.field(first, 'owner'), await servers.field(second, 'owner')]).toEqual(['one', 'other'])
    })
  })

  it.concurrent('gives larger tokens than a server that was ahead of the others and is dead', async ({ expect }) => {
    await Servers.use(async (servers) => {
      const store = servers.open()
      const granted = async () => {
        const grant = grantIn(await store.acquire(servers.request('one'), forever))
        await store.release(grant, forever)
        return grant.fencingToken
      }
      await granted()
      const ahead = 8_000_000_000_000_000n
      await servers.countFrom(servers.all[0], ahead)
      const token = await granted()
      expect(token).toBe(ahead + 1n)
      await servers.all[0].kill()
      expect(await granted()).toBe(ahead + 2n)
    })
  })

  it.concurrent('gives no smaller token if one server has lost its data and another, whose tokens were larger, is away', async ({
    expect,
  }) => {
    await Servers.use(async (servers) => {
      const ways = await Promise.all(servers.all.map(({ port }) => TcpProxy.to(port)))
      const [first, , third] = ways as [TcpProxy, TcpProxy, TcpProxy]
      const cut = (way: TcpProxy): void => {
        way.refuse()
        way.reset()
      }
      const open = (): RedisQuorumLeaseStore =>
        servers.open(ways.map(({ port }) => new Redis(port, { lazyConnect: true })))
      const granted = async (store: RedisQuorumLeaseStore): Promise<bigint> => {
        const grant = grantIn(await store.acquire(servers.request('one'), limitOf(5_000)))
        await store.release(grant, forever)
        // A majority has released it. The third may still hold it, and refuse the next store, which has other connections.
        await eventually('all servers have released it', async () => {
          const states = await Promise.all(servers.all.map((server) => servers.field(server, 'state')))
          return !states.includes('leased')
        })
        return grant.fencingToken
      }
      try {
        const store = open()
        await granted(store)
        cut(third)
        const ahead = 8_000_000_000_000_000n
        await servers.countFrom(servers.all[0], ahead)
        expect(await granted(store)).toBe(ahead + 1n)
        third.heal()
        await servers.all[1].restart()
        cut(first)
        // Another process, which has seen nothing of all that.
        const other = open()
        await expect(granted(other)).rejects.toThrow(/a server has lost its data/)
        first.heal()
        const next = await granted(other)
        expect(next).toBeGreaterThan(ahead + 1n)
        cut(first)
        expect(await granted(open())).toBeGreaterThan(next)
      } finally {
        await Promise.all(ways.map((way) => way.close()))
      }
    })
  })

  it.concurrent('does not renew for a former holder', async ({ expect }) => {
    await Servers.use(async (servers) => {
      const [one, other] = [servers.open(), servers.open()]
      const grant = grantIn(await one.acquire(servers.request('one'), forever))
      await sleep(ttl + 100)
      expect((await other.acquire(servers.request('other'), forever)).granted).toBe(true)
      expect(await one.renew(grant, forever)).toMatchObject({
        renewed: false,
        reason: 'taken',
        holder: { owner: 'other' },
      })
    })
  })

  it.concurrent('serves five challengers, by either library, one at a time', async ({ expect }) => {
    await Servers.use(async (servers) => {
      const inside = new Set<number>()
      let most = 0
      const turns = Array.from({ length: 5 }, async (_, place) => {
        const clients = servers.all.map(({ port }) =>
          place % 2 === 0 ? new Redis(port, { lazyConnect: true }) : createClient({ socket: { port } }),
        )
        const lease = createLease(servers.open(clients), servers.name, { ...timeouts, owner: `${place}` })
        for (let round = 0; round < 3; round += 1) {
          expect(await lease.acquire({ wait })).toBe(true)
          inside.add(place)
          most = Math.max(most, inside.size)
          await sleep(5)
          inside.delete(place)
          await lease.release()
        }
      })
      await Promise.all(turns)
      expect(most).toBe(1)
    })
  })

  it.concurrent('settles a request whose answers are lost', async ({ expect }) => {
    await Servers.use(async (servers) => {
      const proxies = await Promise.all(servers.all.map(({ port }) => TcpProxy.to(port)))
      try {
        const store = servers.open(proxies.map(({ port }) => new Redis(port, { lazyConnect: true })))
        await store.read(servers.name, forever)
        for (const proxy of proxies.slice(1)) proxy.dropNextResponse()
        const lease = createLease(store, servers.name, timeouts)
        expect(await lease.acquire({ wait })).toBe(true)
        await sleep(ttl)
        expect(lease.checkLease()).toBe(true)
        for (const proxy of proxies.slice(1)) proxy.dropNextResponse()
        expect(await lease.release()).toBe(true)
      } finally {
        await Promise.all(proxies.map((proxy) => proxy.close()))
      }
    })
  })
})
