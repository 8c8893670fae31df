import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { loseInVirtualTime } from './readme.js'

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

  it('forgets a cancelled timer, and never arms one that never comes', async () => {
    const clock = new VirtualClock()
    clock.schedule(10, () => expect.unreachable())()
    clock.schedule(Number.POSITIVE_INFINITY, () => expect.unreachable())
    expect(clock.pending).toBe(0)
    await clock.advance(1e9)
  })

  it('blocked: timers run late; suspended: they stand still', async () => {
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

  it('does what the README says', async () => {
    expect(await loseInVirtualTime()).toEqual(['expired'])
  })
})
