import type { LeaseStore } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { afterEach, beforeEach, describe, expect, it, type TestContext, vi } from 'vitest'
import { seeGrantsInThreads } from '../../../heartbeat-thread/test/support/granted-in-thread.js'
import { fromSource } from '../../../heartbeat-thread/test/support/thread-options.js'
import { PartitionGroup, Semaphore } from '../../src/index.js'

/** Milliseconds; far more than a busy machine takes for a heartbeat. */
const TTL = 4_000
const PERMITS = 2
/** More leases than one attempt uses. */
const MOST = 10

const waiting = { timeout: 30_000, interval: 20 }

let claims: ReturnType<typeof seeGrantsInThreads>

beforeEach(() => {
  claims = seeGrantsInThreads()
})

afterEach(() => vi.restoreAllMocks())

async function openStore(test: TestContext): Promise<LeaseStore> {
  const thread = new HeartbeatThread(fromSource)
  test.onTestFinished(() => thread.close())
  return await claims.open(thread)
}

describe('a grant that is on its way from the heartbeat thread while its caller gives up', () => {
  it('costs a semaphore no permit, whichever lease of the attempt it is', async (test) => {
    const store = await openStore(test)
    let outcome: unknown
    for (let place = 0; outcome !== 'acquired'; place += 1) {
      expect(place).toBeLessThan(MOST)
      await using semaphore = new Semaphore(store, { name: `pool ${place}`, permits: PERMITS, heartbeatTimeout: TTL })
      const giveUp = new AbortController()
      claims.atGrant(claims.count + place, () => giveUp.abort('given up'))
      const attempt = semaphore.acquire({ signal: giveUp.signal }).then(
        () => 'acquired',
        (reason) => reason,
      )
      outcome = await attempt
      await using others = new Semaphore(store, { name: `pool ${place}`, permits: PERMITS, heartbeatTimeout: TTL })
      const free = outcome === 'acquired' ? PERMITS - 1 : PERMITS
      for (let permit = 0; permit < free; permit += 1) {
        expect(await others.acquire({ wait: 5 * TTL })).toBeDefined()
      }
    }
  })

  it('leaves no partition without work', async (test) => {
    const store = await openStore(test)
    const worked = new Set<number>()
    const create = (): PartitionGroup =>
      new PartitionGroup(store, {
        name: 'group',
        partitions: 4,
        heartbeatTimeout: TTL,
        rebalanceInterval: 200,
        onAssigned: async ({ partition, signal }) => {
          worked.add(partition)
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        },
      })
    const first = create()
    let stopped: Promise<void> | undefined
    // Its own claim is that of the member; the next are those of partitions.
    claims.atGrant(claims.count + 1, () => {
      stopped = first.stop()
    })
    first.start()
    await vi.waitUntil(() => stopped !== undefined, waiting)
    await stopped
    worked.clear()
    await using second = create()
    second.start()
    await vi.waitUntil(() => worked.size === 4, waiting)
  })
})
