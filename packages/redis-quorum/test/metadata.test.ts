import type { LeaseStore, Metadata } from '@leasehold/core'
import { AbortableCall, type RenewOutcome } from '@leasehold/core/store'
import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted } from '@leasehold/testing/job-claims'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { Scene } from '../../redis/test/support/scene.js'

const KEY = 'leasehold:{job}'

interface Quorum {
  readonly store: RedisQuorumLeaseStore
  readonly servers: readonly RedisServer[]
  /** Cuts one server off from the store, and lets it back. */
  cutOff(place: number): void
  heal(place: number): void
}

async function during(test: (quorum: Quorum) => Promise<void>): Promise<void> {
  await Scene.play(async (scene) => {
    const servers = await Promise.all([1, 2, 3].map(() => scene.server()))
    const proxies = await Promise.all(servers.map((server) => scene.proxy(server)))
    const store = new RedisQuorumLeaseStore(proxies.map(({ port }) => new Redis(port, { lazyConnect: true })))
    scene.atEnd(() => store.close())
    await test({
      store,
      servers,
      cutOff: (place) => {
        proxies[place]?.refuse()
        proxies[place]?.reset()
      },
      heal: (place) => proxies[place]?.heal(),
    })
  })
}

/** Waits until the request is granted; `null`: without metadata. */
async function previousOf(
  store: LeaseStore,
  grantId: string,
  metadata: Metadata | null = {},
): Promise<Metadata | undefined> {
  let previous: Metadata | undefined
  await eventually(`${grantId} is granted`, async () => {
    const outcome = await store
      .acquire(claimOf(grantId, metadata === null ? {} : { metadata }), new AbortableCall())
      .catch(() => undefined)
    if (outcome?.granted !== true) return false
    previous = outcome.previous
    return true
  })
  return previous
}

async function confirmed(update: () => Promise<RenewOutcome>): Promise<void> {
  await eventually('the update is confirmed', async () => {
    const outcome = await update().catch(() => undefined)
    return outcome?.renewed === true
  })
}

/** Waits until the grant is released: a server that was cut off may still be away. */
async function leftBy(store: LeaseStore, grantId: string): Promise<void> {
  const grant = { ...claimOf(grantId), fencingToken: 0n }
  await eventually(`${grantId} is released`, async () => {
    const outcome = await store.release(grant, new AbortableCall()).catch(() => undefined)
    return outcome !== undefined
  })
}

describeRedis('the metadata of a lease on a quorum', () => {
  describe.concurrent('of three servers', { timeout: 60_000 }, () => {
    it('is returned to the next holder after update, release, expiry, break and change', async () => {
      await during(async ({ store }) => {
        const call = (): AbortableCall => new AbortableCall()
        expect(await previousOf(store, 'a', { step: '1' })).toBeUndefined()
        expect(await previousOf(store, 'a', { step: '1' })).toBeUndefined()
        const first = await granted(store, 'a')
        expect(await store.update(first, { step: '2' }, call())).toEqual({ renewed: true })
        expect(await store.read('job', call())).toMatchObject({ metadata: { step: '2' } })
        await store.release(first, call())
        expect(await previousOf(store, 'b')).toEqual({ step: '2' })
        expect(await store.read('job', call())).toMatchObject({ previous: { step: '2' }, metadata: {} })
        const second = await granted(store, 'b')
        await store.release(second, call(), { step: '3' })
        expect(await store.read('job', call())).toMatchObject({ state: 'available', metadata: { step: '3' } })
        const third = await granted(store, 'c')
        const passed = await store.change(third, { grantId: 'd', owner: 'd' }, call())
        expect(passed).toMatchObject({ granted: true, previous: { step: '3' } })
        await store.break('job', { period: 0, reason: 'by hand' }, call())
        expect(await previousOf(store, 'e')).toEqual({ step: '3', breakReason: 'by hand' })
      })
    })

    it('is the latest one, if servers have missed updates', async () => {
      await during(async ({ store, cutOff, heal }) => {
        const grant = await granted(store, 'a', { metadata: { step: '0' } })
        for (const [step, place] of [0, 1, 2, 0].entries()) {
          cutOff(place)
          await confirmed(() => store.update(grant, { step: String(step) }, new AbortableCall()))
          heal(place)
        }
        await store.release(grant, new AbortableCall())
        expect(await previousOf(store, 'b')).toEqual({ step: '3' })
      })
    })

    it('is the latest one, if the holders after the update kept what each server had', async () => {
      await during(async ({ store, cutOff, heal }) => {
        const grant = await granted(store, 'a', { metadata: { step: '1' } })
        cutOff(2)
        await confirmed(() => store.update(grant, { step: '2' }, new AbortableCall()))
        heal(2)
        await leftBy(store, 'a')
        // This holder has server 2, which missed the update, and dies without an update of its own.
        cutOff(0)
        expect(await previousOf(store, 'b', null)).toEqual({ step: '2' })
        await leftBy(store, 'b')
        heal(0)
        // The only server that has the update has it from an earlier holder than server 2.
        cutOff(1)
        expect(await previousOf(store, 'c', null)).toEqual({ step: '2' })
        expect(await store.read('job', new AbortableCall())).toMatchObject({ metadata: { step: '2' } })
        await leftBy(store, 'c')
        expect(await previousOf(store, 'd', { step: '3' })).toEqual({ step: '2' })
        await leftBy(store, 'd')
        heal(1)
        cutOff(0)
        // Server 1 has the update, and server 2 the later metadata of a claim.
        expect(await previousOf(store, 'e', null)).toEqual({ step: '3' })
        await leftBy(store, 'e')
        heal(0)
        cutOff(2)
        // Server 1 keeps the update, under the latest grant, and server 0 the later metadata.
        expect(await previousOf(store, 'f', null)).toEqual({ step: '3' })
      })
    })

    it('is the latest one, if a server has missed an update and then takes part in a raise of the token', async () => {
      await during(async ({ store, cutOff, heal }) => {
        const grant = await granted(store, 'a', { metadata: { step: '1' } })
        cutOff(0)
        await confirmed(() => store.update(grant, { step: '2' }, new AbortableCall()))
        heal(0)
        cutOff(1)
        const fencingToken = grant.fencingToken + 10n ** 12n
        await confirmed(() => store.raiseToken(grant, fencingToken, new AbortableCall()))
        heal(1)
        // Repeated: the first one may have been confirmed without server 1.
        await confirmed(() => store.raiseToken({ ...grant, fencingToken }, fencingToken, new AbortableCall()))
        expect(await store.read('job', new AbortableCall())).toMatchObject({ metadata: { step: '2' } })
        await store.release({ ...grant, fencingToken }, new AbortableCall())
        expect(await previousOf(store, 'b', null)).toEqual({ step: '2' })
      })
    })

    it('is not the empty map of a server that has lost the record', async () => {
      await during(async ({ store, servers, cutOff, heal }) => {
        await store.release(await granted(store, 'a', { metadata: { step: '1' } }), new AbortableCall())
        await servers[2]?.command('DEL', KEY)
        cutOff(0)
        expect(await previousOf(store, 'b', null)).toEqual({ step: '1' })
        await leftBy(store, 'b')
        heal(0)
        cutOff(1)
        expect(await previousOf(store, 'c', null)).toEqual({ step: '1' })
        expect(await store.read('job', new AbortableCall())).toMatchObject({ metadata: { step: '1' } })
      })
    })

    it('is restored on a server from the latest one of a majority', async () => {
      await during(async ({ store, servers, cutOff, heal }) => {
        const grant = await granted(store, 'a', { metadata: { step: '1' } })
        cutOff(0)
        await confirmed(() => store.update(grant, { step: '2' }, new AbortableCall()))
        heal(0)
        await servers[2]?.command('DEL', KEY)
        await eventually('server 2 has the grant again', async () => {
          await store.renew(grant, new AbortableCall()).catch(() => {})
          return String(await servers[2]?.command('HGET', KEY, 'lease')).startsWith('leased')
        })
        expect(String(await servers[2]?.command('HGET', KEY, 'metadata'))).toContain('"step":"2"')
      })
    })

    it('is not that of a claim that found no majority', async () => {
      await during(async ({ store, servers }) => {
        await store.release(await granted(store, 'a', { metadata: { step: '1' } }), new AbortableCall())
        // Two servers are locked by rivals, so that the claim is granted by one only.
        const rivals = await Promise.all(servers.slice(1).map((server) => server.command('HGET', KEY, 'lease')))
        for (const [index, server] of servers.slice(1).entries()) {
          const lease = String(rivals[index])
          await server.command(
            'HSET',
            KEY,
            'lease',
            `leased    8999999999999999${lease.slice(26).replace(' a ', ` 0${index} `)}`,
          )
        }
        const lost = await store.acquire(claimOf('z', { metadata: { step: 'lost' } }), new AbortableCall())
        expect(lost.granted).toBe(false)
        const [first] = servers
        await eventually('the claim is taken back', async () => {
          return String(await first?.command('HGET', KEY, 'lease')).startsWith('available')
        })
        expect(await first?.command('HGET', KEY, 'metadata')).toBe('{"step":"1"}')
        for (const [index, server] of servers.slice(1).entries()) {
          await server.command('HSET', KEY, 'lease', String(rivals[index]))
        }
        expect(await previousOf(store, 'b')).toEqual({ step: '1' })
      })
    })
  })
})
