import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { FreshnessWatch } from '../../client/state/freshness.js'

function watch() {
  const clock = new VirtualClock()
  const kinds: string[] = []
  const pageClock = {
    now: () => clock.now(),
    wall: () => clock.wall(),
    schedule: (delay: number, task: () => void) => clock.schedule(delay, task),
  }
  const freshness: FreshnessWatch = new FreshnessWatch(pageClock, () => kinds.push(freshness.status.kind))
  freshness.greeted(1_000)
  return { clock, freshness, kinds }
}

const ended = { code: 'connection', message: 'The connection to the server ended.' }

describe('FreshnessWatch', () => {
  it('is live once a list and its age have come', () => {
    const { freshness } = watch()
    freshness.opened()
    freshness.heard({ age: 0 })
    expect(freshness.status.kind).toBe('connecting')
    freshness.listed()
    expect(freshness.status.kind).toBe('live')
  })

  it('is stale after three intervals in which nothing came, and knows how old the list is', async () => {
    const { clock, freshness } = watch()
    freshness.listed()
    freshness.heard({ age: 500 })
    await clock.advance(2_499)
    expect(freshness.status.kind).toBe('live')
    await clock.advance(1)
    expect(freshness.status).toMatchObject({ kind: 'stale', error: { code: 'silence' } })
    const { status } = freshness
    expect(clock.now() - (status.kind === 'stale' ? status.asOf : 0)).toBe(3_000)
  })

  it('is stale at once when the stream ends, and live again only with a new list', () => {
    const { freshness } = watch()
    freshness.listed()
    freshness.heard({ age: 0 })
    freshness.ended(ended, false)
    expect(freshness.status).toMatchObject({ kind: 'stale', error: ended })
    freshness.opened()
    freshness.heard({ age: 0 })
    expect(freshness.status.kind).toBe('stale')
    freshness.listed()
    expect(freshness.status.kind).toBe('live')
  })

  it('is stale at once when the server cannot read the store, with its sentence', () => {
    const { freshness } = watch()
    freshness.listed()
    freshness.heard({ age: 0 })
    freshness.heard({ age: 1_000, error: { code: 'unavailable', message: 'The store is down.' } })
    expect(freshness.status).toMatchObject({ kind: 'stale', error: { message: 'The store is down.' } })
  })

  it('does not call an old list live, although it comes at once', () => {
    const { freshness } = watch()
    freshness.listed()
    freshness.heard({ age: 60_000 })
    expect(freshness.status.kind).toBe('stale')
  })

  it('stays live while another stream takes over, for as long as the old list would', async () => {
    const { clock, freshness } = watch()
    freshness.listed()
    freshness.heard({ age: 0 })
    freshness.opened()
    await clock.advance(1_000)
    // This is the age of a list that has not come yet.
    freshness.heard({ age: 0 })
    await clock.advance(1_999)
    expect(freshness.status.kind).toBe('live')
    await clock.advance(1)
    expect(freshness.status.kind).toBe('stale')
  })

  it('asks for a token when the server does', () => {
    const { freshness } = watch()
    freshness.ended({ code: 'access', message: 'Send a token.' }, true)
    expect(freshness.status.kind).toBe('locked')
  })
})
