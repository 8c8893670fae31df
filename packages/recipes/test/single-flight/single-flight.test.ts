import { createLease, LeaseConfigurationError, LeaseNameError } from '@leasehold/core'
import type { SingleFlightOptions } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { describe, expect, it } from 'vitest'
import { createPlace, TTL, times, unreachable } from './place.js'

describe('a value', () => {
  it('is refreshed once, and is returned from memory while it is fresh', async () => {
    const { clock, calls, create, refresh, refreshes, settled } = createPlace()
    const flight = create()
    expect(await settled(flight.get('key', refresh, times))).toEqual({ n: 1 })
    expect(calls.filter((call) => call !== 'watch')).toEqual(['read', 'acquire', 'update', 'update', 'release'])
    await clock.advance(58_000)
    expect(await flight.get('key', unreachable, times)).toEqual({ n: 1 })
    expect(refreshes.length).toBe(1)
    expect(calls.filter((call) => call !== 'watch').length).toBe(5)
  })

  it('is read from the record by another process, which starts nothing while it is fresh', async () => {
    const { calls, create, refresh, settled } = createPlace()
    await settled(create().get('key', refresh, times))
    calls.length = 0
    const other = create({ cacheSize: 0 })
    expect(await settled(other.get('key', unreachable, times))).toEqual({ n: 1 })
    expect(await settled(other.get('key', unreachable, times))).toEqual({ n: 1 })
    expect(calls).toEqual(['read', 'read'])
  })

  it('is a copy for each caller', async () => {
    const { create, refresh, settled } = createPlace()
    const flight = create()
    const first = await settled(flight.get('key', refresh, times))
    first.n = 99
    expect(await settled(flight.get('key', refresh, times))).toEqual({ n: 1 })
  })

  it('is refreshed behind its callers while it is stale, and they get the old one at once', async () => {
    const { clock, create, refresh, refreshes, settled } = createPlace()
    const [one, other] = [create(), create()]
    await settled(one.get('key', refresh, times))
    await settled(other.get('key', refresh, times))
    await clock.advance(60_000)
    const olds = [one, one, other].map((flight) => flight.get('key', refresh, times))
    expect(await Promise.all(olds)).toEqual(Array(3).fill({ n: 1 }))
    await clock.advance(3_000)
    expect(refreshes.map(({ previous }) => previous)).toEqual([undefined, { n: 1 }])
    expect(await one.get('key', refresh, times)).toEqual({ n: 2 })
    await settled(other.get('key', refresh, times))
    await clock.advance(1)
    expect(await other.get('key', refresh, times)).toEqual({ n: 2 })
    expect(refreshes.length).toBe(2)
  })

  it('that is expired makes all callers wait for one refresh, in all processes', async () => {
    const { clock, create, refresh, refreshes, settled } = createPlace()
    const fleet = Array.from({ length: 5 }, () => create())
    await settled(Promise.all(fleet.map((flight) => flight.get('key', refresh, times))))
    expect(refreshes.length).toBe(1)
    await clock.advance(90_000)
    const waiting = fleet.flatMap((flight) => [flight.get('key', refresh, times), flight.get('key', refresh, times)])
    expect(await settled(Promise.all(waiting))).toEqual(Array(10).fill({ n: 2 }))
    expect(refreshes.length).toBe(2)
    expect(refreshes[1]).toMatchObject({ previous: { n: 1 }, interrupted: false })
  })

  it('is got by a waiter as soon as the store signals that it was written, although the lease is held', async () => {
    const { clock, inner, store, create, settled, pause } = createPlace()
    const lease = createLease(inner, 'flight/key', {
      owner: 'holder',
      heartbeatTimeout: TTL,
      clock,
      logger: silentLogger,
    })
    await settled(lease.acquire())
    const wakes: (() => void)[] = []
    const watch = async function* () {
      await new Promise<void>((resolve) => wakes.push(resolve))
      yield undefined
      await pause(1_000_000)
    }
    Object.assign(store, { watch })
    const waiting = create().get('key', unreachable, times)
    await clock.advance(5_000)
    const refreshedAt = new Date(clock.wall()).toISOString()
    const facts = { token: '7', refreshedBy: 'holder', refreshedAt, freshFor: '1000000', staleFor: '0' }
    await settled(lease.update({ recipe: 'single-flight', value: '"early"', ...facts }))
    for (const wake of wakes) wake()
    await clock.settle()
    expect(await waiting).toBe('early')
    expect(lease.checkLease()).toBe(true)
    await settled(lease.release())
  })

  it('with no times is refreshed once for the callers that wait together, and again for the next', async () => {
    const { create, refresh, refreshes, settled } = createPlace()
    const flight = create()
    const get = () => flight.get('key', refresh, { freshFor: 0 })
    expect(await settled(Promise.all([get(), get(), get()]))).toEqual(Array(3).fill({ n: 1 }))
    expect(await settled(get())).toEqual({ n: 2 })
    expect(refreshes.length).toBe(2)
  })

  it('that is stale as soon as it is made is not refreshed again for the caller that made it', async () => {
    const { clock, create, refresh, refreshes, settled } = createPlace()
    const [flight, stale] = [create(), { freshFor: 0, staleFor: 60_000 }]
    expect(await settled(flight.get('key', refresh, stale))).toEqual({ n: 1 })
    await clock.advance(5_000)
    expect(refreshes.length).toBe(1)
    expect(await flight.get('key', refresh, stale)).toEqual({ n: 1 })
    await clock.advance(5_000)
    expect(refreshes.length).toBe(2)
  })

  it('has the times that functions take from it', async () => {
    const { clock, create, settled } = createPlace()
    const flight = create()
    const refresh = async () => ({ expiresIn: 100 })
    const options = { freshFor: ({ expiresIn }: { expiresIn: number }) => expiresIn * 900, staleFor: () => 5_000 }
    await settled(flight.get('key', refresh, options))
    const { refreshedAt, ...others } = (await settled(flight.read('key'))) ?? expect.unreachable()
    expect(others).toMatchObject({ value: { expiresIn: 100 }, state: 'fresh' })
    await clock.advance(90_000)
    expect((await settled(flight.read('key')))?.state).toBe('stale')
    await clock.advance(5_000)
    expect((await settled(flight.read('key')))?.state).toBe('expired')
    expect(refreshedAt).toBeInstanceOf(Date)
  })

  it('is kept as expired if the function of its times fails, and the callers get the error', async () => {
    const { create, refresh, refreshes, settled } = createPlace()
    const flight = create()
    const broken = flight.get('key', refresh, { freshFor: () => Number.NaN })
    await expect(settled(broken)).rejects.toThrow('freshFor must be 0 or more milliseconds, or Infinity, not NaN')
    await settled(flight.get('key', refresh, times))
    expect(refreshes[1]).toMatchObject({ previous: { n: 1 }, interrupted: false })
  })

  it('that a caller does not accept is refreshed, once for all callers that refused it', async () => {
    const { create, refresh, refreshes, settled } = createPlace()
    const [one, other] = [create(), create()]
    await settled(one.get('key', refresh, times))
    const accepts = ({ n }: { n: number }) => n !== 1
    const all = [one, one, other].map((flight) => flight.get('key', refresh, { ...times, accepts }))
    expect(await settled(Promise.all(all))).toEqual(Array(3).fill({ n: 2 }))
    expect(refreshes.length).toBe(2)
  })

  it('is returned to a caller that made it, also if it is not accepted', async () => {
    const { create, refresh, settled } = createPlace()
    expect(await settled(create().get('key', refresh, { ...times, accepts: () => false }))).toEqual({ n: 1 })
  })
})

describe('memory', () => {
  it('has the values that were asked for last', async () => {
    const { calls, create, settled } = createPlace()
    const flight = create({ cacheSize: 100 })
    const get = (key: number) => settled(flight.get(`key ${key}`, async () => key, times))
    for (let key = 0; key < 100; key += 1) await get(key)
    await get(0)
    await get(100)
    calls.length = 0
    await get(0)
    await get(100)
    expect(calls).toEqual([])
    await get(1)
    expect(calls).toEqual(['read'])
  })

  it('forgets a value with forget(), and the next refresh has no previous one', async () => {
    const { create, refresh, refreshes, settled } = createPlace()
    const flight = create()
    await settled(flight.get('key', refresh, times))
    await settled(flight.forget('key'))
    expect(await settled(flight.read('key'))).toBeUndefined()
    expect(await settled(flight.get('key', refresh, times))).toEqual({ n: 2 })
    expect(refreshes[1]).toMatchObject({ previous: undefined, interrupted: false })
  })
})

describe('wall clocks', () => {
  it('that are set back or forth do not change the age of a value that this process knows', async () => {
    const { clock, create, refresh, settled } = createPlace()
    let step = 0
    const flight = create({ now: () => new Date(clock.wall() + step) })
    await settled(flight.get('key', refresh, times))
    step = -3_600_000
    await clock.advance(58_000)
    expect((await flight.get('key', refresh, times)).n).toBe(1)
    await clock.advance(90_000)
    expect((await settled(flight.get('key', refresh, times))).n).toBe(2)
    step = 3_600_000
    expect((await flight.get('key', refresh, times)).n).toBe(2)
  })

  it('that are a little behind count a value of another process as new, and no longer than its times', async () => {
    const { clock, create, refresh, refreshes, settled } = createPlace()
    const behind = create({ now: () => new Date(clock.wall() - 30_000) })
    await settled(create().get('key', refresh, times))
    await settled(behind.get('key', unreachable, times))
    await clock.advance(59_000)
    await settled(behind.get('key', unreachable, times))
    await clock.advance(2_000)
    await settled(behind.get('key', refresh, times))
    await clock.advance(2_000)
    expect(refreshes.length).toBe(2)
  })

  it('that are far behind count it as stale', async () => {
    const { clock, create, refresh, refreshes, settled } = createPlace()
    const behind = create({ now: () => new Date(clock.wall() - 3_600_000) })
    await settled(create().get('key', refresh, times))
    expect(await settled(behind.get('key', refresh, times))).toEqual({ n: 1 })
    await clock.advance(2_000)
    expect(refreshes.length).toBe(2)
    expect(await settled(behind.get('key', unreachable, times))).toEqual({ n: 2 })
  })
})

describe('wrong arguments', () => {
  it.each<[string, SingleFlightOptions, string]>([
    ['an unknown option', { ttl: 5 } as SingleFlightOptions, "no option 'ttl'"],
    ['an invalid duration', { heartbeatTimeout: -1 }, 'heartbeatTimeout'],
    ['a cache without size', { cacheSize: -1 }, 'cacheSize must be a whole number, 0 or more, not -1'],
    ['a place without write', { place: { read: () => 1 } as never }, 'place must have the functions read and write'],
    ['a place that is null', { place: null as never }, 'place must have the functions read and write'],
    ['a clock that is no function', { now: 5 as never }, 'now must be a function'],
  ])('%s is rejected when it is built', (_, options, message) => {
    const { create } = createPlace()
    expect(() => create(options)).toThrow(LeaseConfigurationError)
    expect(() => create(options)).toThrow(message)
  })

  it('a store without room is rejected when it is built', () => {
    expect(() => createPlace({ metadata: 0 }).create()).toThrow('the memory store keeps none: use a store or a layout')
    expect(() => createPlace({ metadata: 100 }).create()).toThrow('has room for 100: use a shorter owner')
  })

  it.each<[string, object, string]>([
    ['an unknown option', { freshFor: 1, ttl: 5 }, "no option 'ttl'"],
    ['no freshFor', {}, 'needs freshFor'],
    ['a negative freshFor', { freshFor: -1 }, 'freshFor must be 0 or more milliseconds, or Infinity, not -1'],
    ['a text as staleFor', { freshFor: 1, staleFor: '5s' }, 'staleFor must be'],
    ['accepts that is no function', { freshFor: 1, accepts: true }, 'accepts must be a function'],
    ['a signal that is none', { freshFor: 1, signal: {} }, 'signal must be an AbortSignal'],
  ])('%s of get is rejected before anything is sent', async (_, options, message) => {
    const { calls, create } = createPlace()
    const get = create().get('key', unreachable, options as never)
    await expect(get).rejects.toThrow(LeaseConfigurationError)
    await expect(get).rejects.toThrow(message)
    expect(calls).toEqual([])
  })

  it('a key that makes no name is rejected before anything is sent', async () => {
    const { calls, create, settled } = createPlace()
    const flight = create()
    await expect(settled(flight.get(5 as never, unreachable, times))).rejects.toThrow('the key must be a text')
    await expect(settled(flight.get('x'.repeat(5_000), unreachable, times))).rejects.toThrow(LeaseNameError)
    expect(calls).toEqual([])
  })

  it.each([
    ['undefined', undefined, 'the refresh of'],
    ['no JSON', 1n, 'is not JSON'],
    ['a function', () => {}, 'is not JSON'],
    ['too large', 'x'.repeat(10_000), 'give SingleFlight a place for its values'],
  ])('a value that is %s rejects, and is not written', async (_, value, message) => {
    const { create, settled } = createPlace()
    const flight = create()
    const get = flight.get<unknown>('key', async () => value, times)
    await expect(settled(get)).rejects.toThrow(LeaseConfigurationError)
    await expect(get).rejects.toThrow(message)
    expect(await settled(flight.read('key'))).toBeUndefined()
  })
})
