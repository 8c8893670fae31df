import { createSystemClock } from '@leasehold/core/internal'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { loseInVirtualTime } from './readme.js'

const HOUR = 3_600_000

describe('VirtualClock', () => {
  it('runs timers at their instants, in order, and promise reactions between them', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    clock.schedule(20, () => seen.push(`b ${clock.now()}`))
    clock.schedule(10, () => {
      seen.push(`a ${clock.now()}`)
      void Promise.resolve().then(() => clock.schedule(5, () => seen.push(`c ${clock.now()}`)))
    })
    await clock.advance(30)
    expect(seen).toEqual(['a 10', 'c 15', 'b 20'])
    expect([clock.now(), clock.pending]).toEqual([30, 0])
  })

  it('runs timers in the order of their instants, and timers of one instant in the order of their schedule calls', async () => {
    const clock = new VirtualClock()
    const seen: number[] = []
    for (let count = 0; count < 500; count += 1) {
      const delay = (count * 7919) % 50
      clock.schedule(delay, () => seen.push(delay * 1_000 + count))
    }
    await clock.advance(50)
    expect(seen).toHaveLength(500)
    expect(seen).toEqual([...seen].sort((one, other) => one - other))
  })

  it('does not run a cancelled timer, and arms no timer for an infinite delay', async () => {
    const clock = new VirtualClock()
    clock.schedule(10, () => expect.unreachable())()
    clock.schedule(Number.POSITIVE_INFINITY, () => expect.unreachable())
    expect(clock.pending).toBe(0)
    await clock.advance(1e9)
  })

  it('runs a timer whose delay is not a number after one millisecond, as Node does', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    clock.schedule(Number.NaN, () => seen.push(`nan ${clock.now()}`))
    clock.schedule(2, () => seen.push(`later ${clock.now()}`))
    await clock.advance(5)
    expect(seen).toEqual(['nan 1', 'later 2'])
    expect([clock.now(), clock.pending]).toEqual([5, 0])
  })

  it('runs timers late after a block, and stops them during a suspend', async () => {
    const clock = new VirtualClock()
    const seen: number[] = []
    clock.schedule(10, () => seen.push(clock.now()))
    clock.suspend(100)
    await clock.settle()
    expect([clock.now(), clock.suspended(), seen]).toEqual([100, 100, []])
    clock.block(50)
    expect(seen).toEqual([])
    await clock.settle()
    expect(seen).toEqual([150])
  })

  it('runs the example of the README', async () => {
    expect(await loseInVirtualTime()).toEqual(['expired'])
  })
})

describe('clocks of several machines', () => {
  it('drift apart, and each runs its timers by itself', async () => {
    const time = new VirtualTime()
    const [fast, slow] = [new VirtualClock({ time, drift: 0.25 }), new VirtualClock({ time, drift: -0.5 })]
    const seen: [string, number, number][] = []
    fast.schedule(100, () => seen.push(['fast', time.now, fast.now()]))
    slow.schedule(100, () => seen.push(['slow', time.now, slow.now()]))
    await time.advance(400)
    expect(seen).toEqual([
      ['fast', 80, 100],
      ['slow', 200, 100],
    ])
    expect([fast.now(), slow.now()]).toEqual([500, 200])
  })

  it('a timer does not run before its instant on a clock that drifts', async () => {
    const time = new VirtualTime()
    const clock = new VirtualClock({ time, drift: 0.004_987_654_321 })
    let early = 0
    for (let count = 1; count < 300; count += 1) {
      const due = clock.now() + count / 7
      clock.schedule(count / 7, () => {
        if (clock.now() < due) early += 1
      })
      await time.advance(1 / 3)
    }
    await time.advance(100)
    expect([early, clock.pending]).toEqual([0, 0])
  })

  it('a skew or a step changes only the wall clock', async () => {
    const time = new VirtualTime()
    const [one, other] = [new VirtualClock({ time }), new VirtualClock({ time, skew: HOUR })]
    expect(other.wall() - one.wall()).toBe(HOUR)
    one.stepWall(2 * HOUR)
    await time.advance(10)
    expect(one.wall() - other.wall()).toBe(HOUR)
    expect([one.now(), other.now()]).toEqual([10, 10])
  })

  it('a stopped machine runs its timers late, in order, while another machine continues', async () => {
    const time = new VirtualTime()
    const [stopped, other] = [new VirtualClock({ time }), new VirtualClock({ time })]
    const seen: string[] = []
    stopped.schedule(10, () => seen.push(`stopped at 10, now ${stopped.now()}`))
    stopped.schedule(20, () => seen.push(`stopped at 20, now ${stopped.now()}`))
    other.schedule(15, () => seen.push('other at 15'))
    stopped.pause()
    stopped.receive(() => seen.push('a message'))
    await time.advance(50)
    expect(seen).toEqual(['other at 15'])
    stopped.resume()
    await time.advance(0)
    expect(seen).toEqual(['other at 15', 'a message', 'stopped at 10, now 50', 'stopped at 20, now 50'])
    expect([stopped.now(), stopped.suspended()]).toEqual([50, 0])
  })

  it('a suspended machine stops its timers, and its clock counts the time', async () => {
    const time = new VirtualTime()
    const clock = new VirtualClock({ time })
    const seen: number[] = []
    clock.schedule(10, () => seen.push(time.now))
    await time.advance(4)
    clock.pause('suspended')
    await time.advance(100)
    expect([clock.now(), clock.suspended()]).toEqual([104, 100])
    clock.resume()
    await time.advance(5)
    expect(seen).toEqual([])
    await time.advance(1)
    expect(seen).toEqual([110])
  })

  it('a system clock over the readings counts a suspend, and does not count a step', async () => {
    const time = new VirtualTime()
    const machine = new VirtualClock({ time, drift: 0.001, skew: -HOUR })
    const clock = createSystemClock(machine.readings)
    machine.pause('suspended')
    await time.advance(60_000)
    machine.resume()
    machine.stepWall(HOUR)
    const counted = clock.now() - machine.now()
    expect(counted).toBeGreaterThanOrEqual(0)
    expect(counted).toBeLessThanOrEqual(20)
    const before = clock.now()
    machine.stepWall(-3 * HOUR)
    expect(clock.now()).toBe(before)
  })

  it('a cleared machine runs no timer', async () => {
    const time = new VirtualTime()
    const clock = new VirtualClock({ time })
    clock.schedule(10, () => expect.unreachable())
    clock.pause()
    clock.receive(() => expect.unreachable())
    clock.clear()
    clock.resume()
    await time.advance(20)
    expect(clock.pending).toBe(0)
  })

  it('advanceUntil stops at the instant at which the condition becomes true', async () => {
    const time = new VirtualTime()
    const clock = new VirtualClock({ time })
    let isOver = false
    clock.schedule(30, () => {
      isOver = true
    })
    expect(await time.advanceUntil(() => isOver, 20)).toBe(false)
    expect(time.now).toBe(20)
    expect(await time.advanceUntil(() => isOver, 1_000)).toBe(true)
    expect(time.now).toBe(30)
  })
})
