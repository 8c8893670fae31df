import {
  breakLease,
  createLease,
  LeaseConflictError,
  LeaseLostError,
  LeaseUnavailableError,
  readLease,
} from '@leasehold/core'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { describe, expect, it } from 'vitest'
import { createPlace, TTL, times, unreachable } from './place.js'

describe('a refresh', () => {
  it('that fails rejects the callers of its process, and the next process tries at once', async () => {
    const { create, refresh, errors, pause, settled } = createPlace()
    const [one, other] = [create(), create()]
    const failing = async (): Promise<{ n: number }> => {
      await pause(1_000)
      throw new Error('the provider is down')
    }
    const failed = [one.get('key', failing, times), one.get('key', failing, times)].map((get) =>
      expect(get).rejects.toThrow('the provider is down'),
    )
    const next = other.get('key', refresh, times)
    await settled(Promise.all(failed))
    expect(await settled(next)).toEqual({ n: 1 })
    expect(errors).toEqual([])
  })

  it('that fails leaves the value before, and does not count as interrupted', async () => {
    const { clock, create, refresh, refreshes, settled } = createPlace()
    const flight = create()
    await settled(flight.get('key', refresh, times))
    await clock.advance(90_000)
    await expect(settled(flight.get('key', () => Promise.reject(new Error('no')), times))).rejects.toThrow('no')
    await settled(flight.get('key', refresh, times))
    expect(refreshes[1]).toMatchObject({ previous: { n: 1 }, interrupted: false })
  })

  it('that fails behind its callers is an error event, and is not repeated at once', async () => {
    const { clock, create, refresh, errors, pause, settled } = createPlace()
    const flight = create()
    await settled(flight.get('key', refresh, times))
    await clock.advance(60_000)
    let attempts = 0
    const failing = async (): Promise<{ n: number }> => {
      attempts += 1
      await pause(10)
      throw new Error('the provider is down')
    }
    for (let step = 0; step < 20; step += 1) {
      expect(await settled(flight.get('key', failing, times))).toEqual({ n: 1 })
      await clock.advance(100)
    }
    expect(attempts).toBe(1)
    expect(errors).toEqual([new Error('the provider is down')])
    await clock.advance(5_000)
    await settled(flight.get('key', failing, times))
    await clock.advance(100)
    expect(attempts).toBe(2)
  })

  it('whose process dies is interrupted for the next one', async () => {
    const { clock, inner, create, refresh, refreshes, settled } = createPlace()
    const [one, other] = [create(), create()]
    await settled(one.get('key', refresh, times))
    await clock.advance(90_000)
    const lost = expect(one.get('key', () => new Promise(() => {}), times)).rejects.toThrow(LeaseLostError)
    await clock.settle()
    await breakLease(inner, 'flight/key', { period: 0, clock })
    expect(await settled(other.get('key', refresh, times))).toEqual({ n: 2 })
    expect(refreshes[1]).toMatchObject({ previous: { n: 1 }, interrupted: true })
    await settled(lost)
    await clock.advance(90_000)
    await settled(other.get('key', refresh, times))
    expect(refreshes[2]).toMatchObject({ previous: { n: 2 }, interrupted: false })
  })

  it('whose value cannot be written rejects with a LeaseUnavailableError, and is interrupted for the next one', async () => {
    const { clock, store, fleet, create, refresh, refreshes, settled } = createPlace()
    const flight = create()
    const unknown = flight.get(
      'key',
      async () => {
        fleet.isDown = true
        return { n: 0 }
      },
      times,
    )
    await expect(settled(unknown)).rejects.toThrow(LeaseUnavailableError)
    fleet.isDown = false
    await clock.advance(2 * TTL)
    await settled(flight.get('key', refresh, times))
    expect(refreshes[0]).toMatchObject({ previous: undefined, interrupted: true })
    expect(store).toBeDefined()
  })

  it('is not started unless the store has confirmed that it begins', async () => {
    const { store, create, settled } = createPlace()
    store.inject({ kind: 'hang' }, 'update')
    store.inject({ kind: 'hang' }, 'renew')
    await expect(settled(create().get('key', unreachable, times))).rejects.toThrow()
  })

  it('that calls get of its own key rejects: it would wait for itself', async () => {
    const { create, settled } = createPlace()
    const flight = create()
    const nested = flight.get('key', () => flight.get('key', unreachable, times), times)
    await expect(settled(nested)).rejects.toThrow(LeaseConflictError)
    expect(await settled(flight.get('a', () => flight.get('b', async () => 'b', times), times))).toBe('b')
  })

  it('goes on when its caller gives up, and its value is kept', async () => {
    const { clock, create, refresh, settled } = createPlace()
    const flight = create()
    const giveUp = new AbortController()
    const given = expect(flight.get('key', refresh, { ...times, signal: giveUp.signal })).rejects.toThrow('too long')
    await clock.advance(500)
    giveUp.abort(new Error('too long'))
    await given
    expect(await settled(flight.get('key', unreachable, times))).toEqual({ n: 1 })
  })

  it('that fails when its caller has given up is an error event', async () => {
    const { clock, create, errors, pause } = createPlace()
    const giveUp = new AbortController()
    const failing = () => pause(1_000).then(() => Promise.reject(new Error('late')))
    const given = expect(create().get('key', failing, { ...times, signal: giveUp.signal })).rejects.toThrow('too long')
    await clock.advance(500)
    giveUp.abort(new Error('too long'))
    await given
    expect(errors).toEqual([])
    await clock.advance(1_000)
    expect(errors).toEqual([new Error('late')])
  })

  it('is waited for by each caller for as long as its own signal lasts; the wait ends with the last of them', async () => {
    const { clock, inner, calls, create, refresh, settled } = createPlace()
    const lease = createLease(inner, 'flight/key', {
      owner: 'holder',
      heartbeatTimeout: TTL,
      clock,
      logger: silentLogger,
    })
    await settled(lease.acquire())
    const flight = create()
    const signals = [new AbortController(), new AbortController()]
    const gets = signals.map(({ signal }) =>
      flight.get('key', refresh, { ...times, signal }).catch((error: unknown) => error),
    )
    await clock.advance(1_000)
    signals[0]?.abort('first')
    expect(await gets[0]).toBe('first')
    await clock.advance(1_000)
    signals[1]?.abort('second')
    expect(await gets[1]).toBe('second')
    await clock.settle()
    calls.length = 0
    await settled(lease.release())
    await clock.advance(TTL)
    expect(calls).toEqual([])
    expect(await settled(flight.get('key', refresh, times))).toEqual({ n: 1 })
  })

  it('is started for a caller that comes while the wait of others is given up', async () => {
    const { clock, inner, create, refresh, settled } = createPlace()
    const lease = createLease(inner, 'flight/key', {
      owner: 'holder',
      heartbeatTimeout: TTL,
      clock,
      logger: silentLogger,
    })
    await settled(lease.acquire())
    const flight = create()
    const giveUp = new AbortController()
    const given = expect(flight.get('key', refresh, { ...times, signal: giveUp.signal })).rejects.toBe('enough')
    await clock.advance(1_000)
    giveUp.abort('enough')
    const next = flight.get('key', refresh, times)
    await given
    await settled(lease.release())
    expect(await settled(next)).toEqual({ n: 1 })
  })

  it('may end after stop(), so that its value is written; callers that wait for another process reject at once', async () => {
    const { clock, inner, create, refresh, settled } = createPlace()
    const lease = createLease(inner, 'flight/b', {
      owner: 'holder',
      heartbeatTimeout: TTL,
      clock,
      logger: silentLogger,
    })
    await settled(lease.acquire())
    const flight = create()
    const refreshed = flight.get('a', refresh, times)
    const waiting = expect(flight.get('b', refresh, times)).rejects.toThrow(LeaseUnavailableError)
    await clock.advance(500)
    const stopped = flight.stop()
    await clock.settle()
    await waiting
    await settled(stopped)
    expect(await refreshed).toEqual({ n: 1 })
    expect(await readLease(inner, 'flight/a')).toMatchObject({ state: 'available', metadata: { value: '{"n":1}' } })
  })

  it('that does not end is aborted by stop() in time', async () => {
    const { clock, create, settled } = createPlace()
    const flight = create()
    const aborted = expect(
      flight.get('key', ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)), times),
    ).rejects.toThrow(LeaseLostError)
    await clock.advance(500)
    const before = clock.now()
    await settled(flight.stop({ timeout: 2_000 }))
    await aborted
    expect(clock.now() - before).toBeLessThan(2_000)
  })

  it('whose lease was lost changes nothing when it fails late, while another refresh of this object goes on', async () => {
    const { clock, inner, create, refresh, refreshes, settled } = createPlace()
    const flight = create()
    const ends: ((error: Error) => void)[] = []
    const hanging = () => new Promise<{ n: number }>((_, reject) => ends.push(reject))
    for (const count of [1, 2]) {
      const lost = flight.get('key', hanging, times).catch((error: unknown) => error)
      await clock.advance(1_000)
      expect(ends.length).toBe(count)
      if (count === 2) ends[0]?.(new Error('late'))
      await clock.settle()
      await breakLease(inner, 'flight/key', { period: 0, clock })
      expect(await settled(lost)).toBeInstanceOf(LeaseLostError)
    }
    await settled(flight.get('key', refresh, times))
    expect(refreshes[0]).toMatchObject({ previous: undefined, interrupted: true })
  })
})
