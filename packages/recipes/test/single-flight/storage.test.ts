import { createLease, LeaseConfigurationError, LeaseUnavailableError, readLease } from '@leasehold/core'
import { Once } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { describe, expect, it } from 'vitest'
import { createPlace, TTL, times, unreachable } from './place.js'

describe('a place', () => {
  function createTable() {
    const rows = new Map<string, { readonly value: unknown; readonly token: bigint }>()
    return {
      rows,
      read: async (key: string) => rows.get(key)?.value,
      write: async (key: string, value: unknown, token: bigint) => {
        if (token < (rows.get(key)?.token ?? 0n)) throw new Error('a later value was written')
        rows.set(key, { value, token })
      },
    }
  }

  it('keeps a value that is too large for a record, which keeps the token and the times', async () => {
    const { inner, create, settled } = createPlace()
    const place = createTable()
    const large = { text: 'x'.repeat(100_000) }
    expect(await settled(create({ place }).get('key', async () => large, times))).toEqual(large)
    expect(await settled(create({ place }).get('key', unreachable, times))).toEqual(large)
    const { metadata } = (await readLease(inner, 'flight/key')) ?? expect.unreachable()
    expect(Object.keys(metadata).sort()).toEqual([
      'freshFor',
      'recipe',
      'refreshedAt',
      'refreshedBy',
      'staleFor',
      'token',
    ])
    expect(place.rows.get('key')?.token).toBe(BigInt(metadata.token ?? ''))
  })

  it('gives the first refresh the value that it had before', async () => {
    const { create, refresh, refreshes, settled } = createPlace()
    const place = createTable()
    place.rows.set('key', { value: { n: -1 }, token: 0n })
    await settled(create({ place }).get('key', refresh, times))
    expect(refreshes[0]).toMatchObject({ previous: { n: -1 }, interrupted: false })
  })

  it('that has lost a value has it refreshed', async () => {
    const { create, refresh, refreshes, settled } = createPlace()
    const place = createTable()
    await settled(create({ place }).get('key', refresh, times))
    place.rows.clear()
    expect(await settled(create({ place }).get('key', refresh, times))).toEqual({ n: 2 })
    expect(refreshes[1]).toMatchObject({ previous: undefined })
  })

  it('that refuses a write rejects the callers, and the refresh counts as interrupted', async () => {
    const { create, refresh, refreshes, settled } = createPlace()
    const full = { ...createTable(), write: () => Promise.reject(new Error('the disk is full')) }
    const failed = create({ place: full }).get('key', async () => ({ n: 0 }), times)
    await expect(settled(failed)).rejects.toMatchObject({
      name: 'LeaseUnavailableError',
      cause: new Error('the disk is full'),
    })
    await settled(create({ place: createTable() }).get('key', refresh, times))
    expect(refreshes[0]).toMatchObject({ interrupted: true })
  })
})

describe('the store', () => {
  it('need not answer for a value that is stale in memory', async () => {
    const { clock, fleet, errors, create, refresh, settled } = createPlace()
    const flight = create()
    await settled(flight.get('key', refresh, times))
    fleet.isDown = true
    await clock.advance(60_000)
    expect(await flight.get('key', refresh, times)).toEqual({ n: 1 })
    await clock.advance(1_000)
    expect(errors).toEqual([expect.any(LeaseUnavailableError)])
    await clock.advance(30_000)
    await expect(settled(flight.get('key', refresh, times))).rejects.toThrow(LeaseUnavailableError)
    fleet.isDown = false
    expect(await settled(flight.get('key', refresh, times))).toEqual({ n: 2 })
  })

  it('is not asked for a stale value again while another process refreshes it', async () => {
    const { clock, inner, calls, create, refresh, settled } = createPlace()
    const flight = create()
    await settled(flight.get('key', refresh, times))
    await clock.advance(60_000)
    const lease = createLease(inner, 'flight/key', {
      owner: 'holder',
      heartbeatTimeout: TTL,
      clock,
      logger: silentLogger,
    })
    await settled(lease.acquire())
    calls.length = 0
    for (let count = 0; count < 10; count += 1) await settled(flight.get('key', refresh, times))
    await clock.settle()
    expect(calls).toEqual(['read'])
    await settled(lease.release())
  })

  it('may have a record that another program has written: it counts as none', async () => {
    const { clock, inner, create, refresh, settled } = createPlace()
    const lease = createLease(inner, 'flight/key', { clock, logger: silentLogger })
    for (const [index, metadata] of [
      { recipe: 'single-flight' },
      {
        recipe: 'single-flight',
        value: '{',
        token: '1',
        refreshedAt: '2026-01-01T00:00:00Z',
        freshFor: '1',
        staleFor: '1',
      },
      {
        recipe: 'single-flight',
        value: '1',
        token: 'x',
        refreshedAt: '2026-01-01T00:00:00Z',
        freshFor: '1',
        staleFor: '1',
      },
      { recipe: 'single-flight', value: '1', token: '1', refreshedAt: 'never', freshFor: '1', staleFor: '1' },
      { recipe: 'single-flight', value: '1', token: '1', refreshedAt: '2026-01-01T00:00:00Z', freshFor: '-1' },
      { owner: 'plain' },
    ].entries()) {
      await settled(lease.acquire({ metadata }))
      await settled(lease.release())
      expect(await settled(create().read('key'))).toBeUndefined()
      expect(await settled(create().get('key', refresh, times))).toEqual({ n: index + 1 })
    }
  })

  it('may go back to an older value, as after a failover: a process that knows a later one returns that', async () => {
    const { clock, inner, create, refresh, refreshes, settled } = createPlace()
    const flight = create()
    await settled(flight.get('key', refresh, times))
    const old = (await readLease(inner, 'flight/key', { clock }))?.metadata ?? expect.unreachable()
    await clock.advance(90_000)
    await settled(flight.get('key', refresh, times))
    const lease = createLease(inner, 'flight/key', { clock, logger: silentLogger })
    const refreshedAt = new Date(clock.wall() + 30_000).toISOString()
    await settled(lease.acquire({ metadata: { ...old, refreshedAt } }))
    await settled(lease.release())
    await clock.advance(57_000)
    const values = [await flight.get('key', refresh, times)]
    await clock.advance(3_000)
    values.push(await flight.get('key', refresh, times))
    await clock.advance(1)
    values.push(await settled(flight.get('key', refresh, times)))
    expect(values).toEqual([{ n: 2 }, { n: 2 }, { n: 2 }])
    await clock.advance(2_000)
    expect(await flight.get('key', refresh, times)).toEqual({ n: 3 })
    expect(refreshes.length).toBe(3)
  })

  it('keeps the record of another recipe', async () => {
    const { clock, inner, create, settled } = createPlace()
    await settled(new Once(inner, { name: 'flight', clock }).run('key', async () => 1))
    const flight = create()
    for (const call of [
      () => flight.get('key', unreachable, times),
      () => flight.read('key'),
      () => flight.forget('key'),
    ]) {
      await expect(settled(call())).rejects.toThrow(LeaseConfigurationError)
    }
    expect(await readLease(inner, 'flight/key')).toMatchObject({ metadata: { recipe: 'once', outcome: '1' } })
  })
})
