import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { Instant } from '../../src/engine/instant.js'

describe('the circumstances of an event', () => {
  it('are read when they are asked for, and the time then stays the same', () => {
    const clock = new VirtualClock()
    const draws = [0.25, 0.75]
    const instant = new Instant({ clock, random: () => draws.shift() ?? 0 })
    clock.block(10)
    clock.suspend(5)
    expect(instant.now).toBe(15)
    clock.block(10)
    expect(instant.now).toBe(15)
    expect(instant.suspended).toBe(5)
    expect([instant.random, instant.random]).toEqual([0.25, 0.75])
    expect([instant.isOf(clock), instant.isOf(new VirtualClock())]).toEqual([true, false])
  })

  it('are of no suspend where the clock cannot tell', () => {
    const clock = { now: () => 0, schedule: () => () => {} }
    expect(new Instant({ clock, random: () => 0 }).suspended).toBe(0)
  })
})
