import { type LeaseRecord, LeaseUnavailableError } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import type { Notices } from '../src/run/notices.js'
import type { QueuePlace } from '../src/run/queue-place.js'
import { WaitingNotice } from '../src/run/waiting-notice.js'

/** A wait of `x` in virtual time, and the lines that it shows, with their times in seconds. */
function scene({ isTerminal = false, showsProgress = true } = {}) {
  const clock = new VirtualClock()
  const lines: [number, string][] = []
  const notices: Partial<Notices> = {
    isTerminal,
    showsProgress,
    progress: (text) => void lines.push([clock.now() / 1_000, text]),
    clear: () => {},
  }
  const place: Partial<QueuePlace> = {
    shown: ', next in the queue',
    refused: () => {},
    leave: () => {},
    look: () => {},
  }
  const waiting = new WaitingNotice('x', notices as Notices, clock, place as QueuePlace)
  waiting.begin()
  return { clock, lines, waiting }
}

const holder: LeaseRecord = {
  name: 'x',
  owner: 'first',
  grantId: 'a',
  fencingToken: 1n,
  ttl: 10_000,
  state: 'leased',
  metadata: {},
  grantedAt: 0,
}

describe('without a terminal', () => {
  it('says after two seconds who holds the lease, and then at growing intervals', async () => {
    const { clock, lines, waiting } = scene()
    waiting.refused(holder)
    await clock.advance(1_999)
    expect(lines).toEqual([])
    await clock.advance(1)
    expect(lines).toEqual([
      [2, "waiting for 'x' for 2s, next in the queue; first holds it since 1970-01-01T00:00:00.000Z"],
    ])
    await clock.advance(3_600_000)
    const times = lines.map(([time]) => time)
    expect(times.slice(0, 4)).toEqual([2, 8, 26, 80])
    // Every ten minutes in the end.
    expect((times.at(-1) ?? 0) - (times.at(-2) ?? 0)).toBe(600)
  })

  it('says after two seconds why the store cannot be used', async () => {
    const { clock, lines, waiting } = scene()
    waiting.failed(new LeaseUnavailableError('connect ECONNREFUSED'))
    await clock.advance(2_000)
    expect(lines[0]?.[1]).toMatch(/; the store cannot be used: connect ECONNREFUSED$/)
  })

  it('says after two seconds that the store has not answered', async () => {
    const { clock, lines } = scene()
    await clock.advance(2_000)
    expect(lines[0]?.[1]).toMatch(/; the store has not answered yet$/)
  })

  it('says two seconds after a change that the cause is another one, and not again for the same cause', async () => {
    const { clock, lines, waiting } = scene()
    waiting.refused(holder)
    await clock.advance(100_000)
    const before = lines.length
    for (let failures = 0; failures < 3; failures += 1) {
      waiting.failed(new LeaseUnavailableError('connect ECONNREFUSED'))
      await clock.advance(1_000)
    }
    expect(lines.slice(before).map(([time]) => time)).toEqual([102])
    waiting.refused(holder)
    await clock.advance(2_000)
    expect(lines.at(-1)).toEqual([105, expect.stringContaining('first holds it')])
  })

  it('shows nothing more when the wait has ended', async () => {
    const { clock, lines, waiting } = scene()
    waiting.end()
    waiting.failed(new LeaseUnavailableError('late'))
    await clock.advance(1_000_000)
    expect(lines).toEqual([])
  })
})

it('shows the progress each second on a terminal', async () => {
  const { clock, lines, waiting } = scene({ isTerminal: true })
  waiting.refused(holder)
  await clock.advance(3_000)
  expect(lines.map(([time]) => time)).toEqual([1, 2, 3])
})

it('accepts a record whose time no date can show', async () => {
  const { clock, lines, waiting } = scene()
  waiting.refused({ ...holder, grantedAt: 1e20 })
  await clock.advance(2_000)
  expect(lines[0]?.[1]).toMatch(/; first holds it$/)
})

it('is active while it waits, unless it is quiet', () => {
  const { waiting } = scene()
  expect(waiting.isActive).toBe(true)
  waiting.end()
  expect(waiting.isActive).toBe(false)
  expect(scene({ showsProgress: false }).waiting.isActive).toBe(false)
})
