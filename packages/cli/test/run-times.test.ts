import { TimeoutSettings } from '@leasehold/core'
import { expect, it } from 'vitest'
import { endPlanOf, timeTo } from '../src/run/end-plan.js'
import { endTimesOf } from '../src/run/run-times.js'

it('five seconds from SIGTERM to SIGKILL, or a quarter of a short ttl', () => {
  expect(endTimesOf(new TimeoutSettings({ heartbeatTimeout: 60_000 }), undefined, 'x')).toEqual({
    killAfter: 5_000,
    margin: 500,
  })
  expect(endTimesOf(new TimeoutSettings({ heartbeatTimeout: 2_000 }), undefined, 'x')).toEqual({
    killAfter: 500,
    margin: 200,
  })
})

it.each([1_000, 2_000, 5_000, 10_000, 30_000, 120_000])('the defaults suit a ttl of %i ms', (heartbeatTimeout) => {
  expect(() => endTimesOf(new TimeoutSettings({ heartbeatTimeout }), undefined, 'x')).not.toThrow()
})

it('a lease that does not expire has the default time', () => {
  const timeouts = new TimeoutSettings({ heartbeatTimeout: Number.POSITIVE_INFINITY })
  expect(endTimesOf(timeouts, undefined, 'x')).toEqual({ killAfter: 5_000, margin: 500 })
})

it('a time that leaves none for a heartbeat is refused, with the most that is possible', () => {
  const timeouts = new TimeoutSettings({ heartbeatTimeout: 10_000 })
  expect(() => endTimesOf(timeouts, 9_000, 'x')).toThrow(/it may be at most \d+ ms/)
})

it('SIGKILL comes before the end of the validity by the margin, and SIGTERM before it', () => {
  const now = { monotonic: 1_000, boot: 5_000 }
  const { terminateAt, killAt } = endPlanOf(now, 10_000, { killAfter: 3_000, margin: 500 })
  expect(killAt).toEqual({ monotonic: 10_500, boot: 14_500 })
  expect(terminateAt).toEqual({ monotonic: 7_500, boot: 11_500 })
})

it('a suspend counts: the clock that says less decides', () => {
  const deadline = { monotonic: 10_000, boot: 14_000 }
  expect(timeTo(deadline, { monotonic: 1_000, boot: 5_000 })).toBe(9_000)
  // The machine was suspended for 8 seconds.
  expect(timeTo(deadline, { monotonic: 1_000, boot: 13_000 })).toBe(1_000)
  expect(timeTo(undefined, { monotonic: 1_000, boot: 13_000 })).toBe(Number.POSITIVE_INFINITY)
})
