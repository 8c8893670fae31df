import { NoFloorError, RedisMember } from '@leasehold/redis/internal'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { Scene } from './support/scene.js'

const KEY = 'leasehold:{job}'
const FLOOR = 'leasehold:%floor'

/** Larger than any clock. */
const AHEAD = 8_000_000_000_000_000n

interface Member {
  readonly store: RedisMember
  readonly server: RedisServer
  floor(): Promise<bigint | undefined>
  /** Sets the token in the record. */
  count(token: bigint): Promise<unknown>
}

/** A server as a member of a quorum, without a floor unless one is given. */
async function during(floor: bigint | undefined, test: (member: Member) => Promise<void>): Promise<void> {
  await Scene.play(async (scene) => {
    const server = await scene.server()
    const store = new RedisMember(new Redis(server.port, { lazyConnect: true }))
    scene.atEnd(async () => store.close())
    if (floor !== undefined) await store.learn('job', floor, never)
    await test({
      store,
      server,
      floor: async () => (await store.floor('job', never)).floor,
      count: async (token) => {
        const lease = String(await server.command('HGET', KEY, 'lease'))
        return await server.command('HSET', KEY, 'lease', lease.slice(0, 27) + token + lease.slice(43))
      },
    })
  })
}

describeRedis('a member of a quorum', () => {
  it('gives no token without a floor, and writes nothing', async () => {
    await during(undefined, async ({ store, server, floor }) => {
      const grant = { ...claimOf('a'), fencingToken: 5n }
      for (const asked of [store.acquire(claimOf('a'), never), store.repair(grant, {}, undefined, never)]) {
        await expect(asked).rejects.toBeInstanceOf(NoFloorError)
      }
      expect(await server.command('EXISTS', KEY, FLOOR)).toBe(0)
      expect(await store.read('job', never)).toBeUndefined()
      expect(await store.renew(grant, never)).toEqual({ renewed: false, reason: 'deleted' })
      const { now } = await store.floor('job', never)
      expect(now).toBeGreaterThan(1_700_000_000_000_000n)
      await store.learn('job', now, never)
      expect(await floor()).toBe(now)
      expect((await granted(store, 'a')).fencingToken).toBeGreaterThan(now)
    })
  })

  it('that has lost only its floor gives no token, and does not repeat or take over one', async () => {
    await during(0n, async ({ store, server }) => {
      const grant = await granted(store, 'a')
      await server.command('DEL', FLOOR)
      const attempts = [
        () => store.acquire(claimOf('a'), never),
        () => store.change(grant, { grantId: 'b', owner: 'b' }, never),
        () => store.agree(grant, AHEAD, never),
        () => store.repair(grant, {}, undefined, never),
      ]
      for (const attempt of attempts) await expect(attempt()).rejects.toBeInstanceOf(NoFloorError)
      expect(await store.read('job', never)).toMatchObject(grant)
      expect(await store.renew(grant, never)).toEqual({ renewed: true })
    })
  })

  it('gives tokens above its floor and its clock, and raises the floor with each of them', async () => {
    await during(0n, async ({ store, floor }) => {
      const first = await granted(store, 'a')
      expect(first.fencingToken).toBeGreaterThan(1_700_000_000_000_000n)
      expect(await floor()).toBe(first.fencingToken)
      expect(await granted(store, 'a')).toEqual(first)
      await store.release(first, never)
      const second = await granted(store, 'b')
      expect(await floor()).toBe(second.fencingToken)
      await store.learn('job', AHEAD, never)
      const third = await store.change(second, { grantId: 'c', owner: 'c' }, never)
      expect(third).toMatchObject({ grant: { fencingToken: AHEAD + 1n } })
      const other = await granted(store, 'x', { name: 'other' })
      expect(other.fencingToken).toBe(AHEAD + 2n)
      expect(await floor()).toBe(AHEAD + 2n)
    })
  })

  it('never lowers its floor', async () => {
    await during(AHEAD, async ({ store, floor }) => {
      await store.learn('job', 7n, never)
      expect(await floor()).toBe(AHEAD)
    })
  })

  it('raises its floor to a token that it takes over', async () => {
    await during(0n, async ({ store, floor }) => {
      const grant = await granted(store, 'a')
      await store.agree(grant, AHEAD, never)
      expect(await floor()).toBe(AHEAD)
      await store.release(grant, never)
      await store.repair({ ...grant, fencingToken: AHEAD + 5n }, {}, undefined, never)
      expect(await floor()).toBe(AHEAD + 5n)
    })
  })

  it('raises the token of a grant that is in force together with its floor, and no other', async () => {
    await during(0n, async ({ store, server, floor }) => {
      const grant = await granted(store, 'a')
      const other = { ...grant, grantId: 'b' }
      expect(await store.raiseToken(other, AHEAD, never)).toMatchObject({ renewed: false, reason: 'taken' })
      expect(await floor()).toBe(grant.fencingToken)
      expect(await store.raiseToken(grant, AHEAD, never)).toEqual({ renewed: true })
      expect(await floor()).toBe(AHEAD)
      expect(await store.read('job', never)).toMatchObject({ grantId: 'a', fencingToken: AHEAD })
      // The floor keeps later tokens above it: the record is kept no longer than others.
      expect(Number(await server.command('PTTL', KEY))).toBeLessThan(20 * 86_400_000)
      await server.command('DEL', FLOOR)
      await expect(store.raiseToken(grant, AHEAD + 1n, never)).rejects.toBeInstanceOf(NoFloorError)
      expect(await store.read('job', never)).toMatchObject({ fencingToken: AHEAD })
    })
  })

  it('restores a grant under its token, and keeps a larger token that it has given', async () => {
    await during(0n, async ({ store, count }) => {
      const own = await granted(store, 'own')
      await store.release(own, never)
      await count(AHEAD)
      const grant = { ...claimOf('a'), fencingToken: own.fencingToken + 3n }
      const outcome = await store.repair(grant, { host: 'a' }, undefined, never)
      expect(outcome).toEqual({ granted: true, grant })
      expect(await store.read('job', never)).toMatchObject({ ...grant, state: 'leased', metadata: { host: 'a' } })
      await store.release(grant, never)
      expect((await granted(store, 'next')).fencingToken).toBe(AHEAD + 1n)
    })
  })

  it('does not restore a grant of a name that another owner holds', async () => {
    await during(0n, async ({ store }) => {
      const grant = await granted(store, 'successor')
      const late = { ...claimOf('a'), fencingToken: 5n }
      expect(await store.repair(late, {}, undefined, never)).toMatchObject({
        granted: false,
        holder: { grantId: 'successor' },
      })
      expect(await store.read('job', never)).toMatchObject(grant)
    })
  })
})
