import { LeaseTimeoutError, LeaseUnavailableError } from '@leasehold/core'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { heartbeats, type Player } from '@leasehold/testing/players'
import { describe, expect, it } from 'vitest'
import { libraries } from './support/libraries.js'
import type { RedisSentinel } from './support/redis-sentinel.js'
import { Scene } from './support/scene.js'

/** A failover takes some seconds. */
const times = { heartbeatTimeout: 20_000, heartbeatInterval: 1_000, operationTimeout: 1_500 }

/** The holder either keeps the name, or has lost it for good. */
async function expectSettled({ lease, losses, ...player }: Player): Promise<void> {
  const before = heartbeats({ lease, losses, ...player })
  await eventually('the holder is renewed, or knows that it is none', async () => {
    return losses.length > 0 || heartbeats({ lease, losses, ...player }) > before + 1
  })
  expect(losses.length).toBe(lease.checkLease() ? 0 : 1)
}

/** Releases the lease. Soon after a failover the client may still be connecting: the outcome is then unknown. */
async function released({ lease }: Player): Promise<void> {
  await eventually('the lease is released', async () => {
    try {
      await lease.release()
      return true
    } catch (error) {
      if (error instanceof LeaseTimeoutError || error instanceof LeaseUnavailableError) return false
      throw error
    }
  })
}

describeRedis('a master under sentinels', () => {
  describe.concurrent.each(libraries)('by $name,', { timeout: 120_000 }, ({ sentinel: clientOf }) => {
    it.each([
      ['is killed', (group: RedisSentinel) => group.loseMaster()],
      ['is replaced in order', (group: RedisSentinel) => group.failover()],
    ])('that %s: leases go on at the next, one holder at a time, with larger tokens', async (_, change) => {
      await Scene.play(async (scene) => {
        const group = await scene.sentinel()
        const client = clientOf(group)
        const play = (owner: string): Player => scene.player(owner, scene.store(client), times)
        const [a, b, c] = [play('a'), play('b'), play('c')]
        await a.lease.acquire({ wait: 20_000 })
        const token = a.lease.fencingToken ?? 0n
        const waiting = b.lease.acquire({ wait: 90_000 })
        await eventually('a has renewed', async () => heartbeats(a) > 0)
        await change(group)
        await expectSettled(a)
        await released(a)
        expect(await waiting).toBe(true)
        expect(b.lease.fencingToken).toBeGreaterThan(token)
        const next = b.lease.fencingToken ?? 0n
        await b.lease.release()
        // It knows only the new master. If the release had gone to the old one, the name would stay locked here for a ttl.
        expect(await c.lease.acquire({ wait: 10_000 })).toBe(true)
        expect(c.lease.fencingToken).toBeGreaterThan(next)
        expect([...a.overlaps, ...b.overlaps, ...c.overlaps]).toEqual([])
      })
    })
  })
})
