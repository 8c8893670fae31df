import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSystemClock } from '../../src/time/system-clock.js'
import { INTERVAL, setUpHeld, VALIDITY } from '../support/held-lease.js'

// No jitter, so that the times below are exact. Other tests cover the jitter.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

describe('rule 3: time is monotonic, a suspend counts, a step of the wall clock does not', () => {
  it('checkLease is false after a blocked event loop, before any timer has run', async () => {
    const { clock, lease, losses } = await setUpHeld()
    clock.block(VALIDITY)
    expect(losses).toEqual([])
    expect(lease.checkLease()).toBe(false)
  })

  it('checkLease is false after a suspend, before any timer has run, and the reason of the loss is suspended', async () => {
    const { clock, lease, losses } = await setUpHeld()
    clock.suspend(VALIDITY)
    expect(lease.checkLease()).toBe(false)
    await clock.advance(INTERVAL)
    expect(losses).toMatchObject([{ reason: 'suspended' }])
  })

  it('the system clock counts a suspend, once, and ignores steps of the wall clock', () => {
    const time = { monotonic: 0, wall: 1_000_000, boot: 50_000 }
    const clock = createSystemClock({
      monotonic: () => time.monotonic,
      wall: () => time.wall,
      boot: () => time.boot,
    })
    const pass = (duration: number): void => {
      time.monotonic += duration
      time.wall += duration
      time.boot += duration
    }
    pass(1_000)
    expect(clock.now()).toBe(1_000)
    time.wall += 3_600_000
    expect(clock.now()).toBe(1_000)
    time.wall -= 7_200_000
    expect(clock.now()).toBe(1_000)
    time.wall += 60_000
    time.boot += 60_000
    expect(clock.now()).toBeGreaterThanOrEqual(61_000)
    expect(clock.now()).toBeLessThanOrEqual(61_020)
    expect(clock.suspended?.()).toBeGreaterThanOrEqual(60_000)
    pass(500)
    expect(clock.now()).toBeLessThanOrEqual(61_520)
  })
})
