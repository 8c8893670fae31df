import { createLease, LeaseSettings, type LeaseStore, MemoryLeaseStore, readLease, systemClock } from '@leasehold/core'
import { acknowledgeTime } from '@leasehold/core/internal'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { rulesOf } from '../../core/src/engine/lease-rules.js'
import { traitsOf } from '../../core/src/engine/store-traits.js'
import { silentLogger } from '../../core/test/support/held-lease.js'
import { createDeadlineMemory, Deadlines } from '../src/deadlines.js'
import { SelfFence } from '../src/self-fence.js'

/** Milliseconds. A loss has to be acknowledged within 5 % of it, which no test comes near. */
const TTL = 200_000

afterEach(() => void vi.restoreAllMocks())

/** Work that ignores its signal, and goes on until the test ends it. */
function setUp() {
  const acknowledge = vi.spyOn(SelfFence.prototype, 'acknowledge')
  const store = new MemoryLeaseStore()
  const lease = createLease(store, 'job', { heartbeatTimeout: TTL, selfFence: 'kill', logger: silentLogger })
  let end = (): void => {}
  const work = new Promise<void>((resolve) => {
    end = resolve
  })
  /** Whether the work of the loss that was acknowledged has ended. */
  const isOver = async (): Promise<boolean> => {
    const [[told] = []] = acknowledge.mock.calls
    const turn = new Promise<false>((resolve) => setImmediate(() => resolve(false)))
    return await Promise.race([Promise.resolve(told).then(() => true), turn])
  }
  const isHeld = async (): Promise<boolean> => (await readLease(store as LeaseStore, 'job'))?.state === 'leased'
  return { store, lease, work, end, acknowledge, isOver, isHeld }
}

describe('a loss under a self-fence', () => {
  it('is acknowledged when the work of the run has ended, and the name is freed then', async () => {
    const { lease, work, end, acknowledge, isOver, isHeld } = setUp()
    let begun = (): void => {}
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    const run = lease.run(async () => {
      begun()
      await work
    })
    const ran = run.catch((error: unknown) => error)
    await isBegun
    const closed = lease.close()
    expect(await ran).toMatchObject({ code: 'lost', reason: 'closed' })
    expect(acknowledge).toHaveBeenCalledOnce()
    expect([await isOver(), await isHeld()]).toEqual([false, true])
    end()
    await closed
    expect([await isOver(), await isHeld()]).toEqual([true, false])
  })

  it('is acknowledged when the promise of an onLost callback has settled, and the name is freed then', async () => {
    const { lease, work, end, acknowledge, isOver, isHeld } = setUp()
    await lease.acquire({
      onLost: async () => {
        await work
        throw new Error('the work failed')
      },
    })
    const closed = lease.close()
    expect(acknowledge).toHaveBeenCalledOnce()
    expect([await isOver(), await isHeld()]).toEqual([false, true])
    end()
    await closed
    expect([await isOver(), await isHeld()]).toEqual([true, false])
  })

  it('is acknowledged at once without work, and the name is freed', async () => {
    const { lease, acknowledge, isHeld } = setUp()
    await lease.acquire({ onLost: () => 'the value of a callback is no work' })
    await lease.close()
    expect(acknowledge.mock.calls).toEqual([[undefined]])
    expect(await isHeld()).toBe(false)
  })

  it('does not wait for the work of a grant before it', async () => {
    const { lease, isHeld } = setUp()
    await lease.acquire({ onLost: () => new Promise(() => {}) })
    await lease.release()
    await lease.acquire()
    await lease.close()
    expect(await isHeld()).toBe(false)
  })
})

describe('the deadline of a grant whose loss is reported', () => {
  function setUpFence() {
    const settings = new LeaseSettings({ name: 'job', selfFence: 'kill' })
    const rules = rulesOf(settings, traitsOf(new MemoryLeaseStore()))
    const time = { bootOffset: undefined, now: () => 0, fromSystem: (instant: number) => instant }
    const deadlines = new Deadlines(createDeadlineMemory(), time)
    const keeper = { deadlines, start: () => undefined, add: () => deadlines.add() }
    const fence = new SelfFence('kill', rules.ttl, () => {}, keeper)
    const words = new BigInt64Array(deadlines.memory)
    return { fence, words, killAt: () => Number(words[1]) / 1e6, time: acknowledgeTime(rules.ttl) }
  }

  it('stays where it is if the loss is acknowledged late', () => {
    const { fence, killAt, time } = setUpFence()
    fence.arm(1_000)
    vi.spyOn(systemClock, 'now').mockReturnValue(1_000 + time / 2)
    fence.acknowledge(new Promise(() => {}))
    expect(killAt()).toBe(1_000 + time)
  })

  it('counts as another thread has moved it, which keeps the grant', () => {
    const { fence, killAt, words, time } = setUpFence()
    fence.arm(1_000)
    // The grant was renewed, and this thread has not seen that before the loss.
    words[1] = BigInt((9_000 + time) * 1e6)
    vi.spyOn(systemClock, 'now').mockReturnValue(5_000)
    fence.acknowledge(new Promise(() => {}))
    expect(killAt()).toBe(5_000 + time)
  })

  it('is brought forward if the lease is lost early', () => {
    const { fence, killAt, time } = setUpFence()
    fence.arm(1_000)
    vi.spyOn(systemClock, 'now').mockReturnValue(100)
    fence.acknowledge(new Promise(() => {}))
    expect(killAt()).toBe(100 + time)
  })
})
