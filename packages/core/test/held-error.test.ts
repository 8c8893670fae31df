import { LeaseHeldError, LeaseUnavailableError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { setUp } from './support/held-lease.js'
import { setUpInMemory } from './support/runs.js'

/** The record of another owner, as stores return it. */
const record = {
  ...{ name: 'job', owner: 'other', grantId: 'g', fencingToken: 7n, ttl: 1 },
  state: 'leased',
  metadata: {},
}

describe('the LeaseHeldError of a run', () => {
  it('names the owner that holds the lease', async () => {
    const { lease, other } = setUpInMemory()
    await other.acquire()
    const error = await lease.run(async () => {}).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LeaseHeldError)
    expect(error).toMatchObject({ leaseName: 'job', owner: 'me', store: 'memory', holder: 'other' })
    expect(String(error)).toContain("lease 'job' is held by another owner, 'other': raise wait, or try later")
  })

  it('names the owner that held the lease at the end of the wait', async () => {
    const { clock, lease, other } = setUpInMemory()
    await other.acquire()
    const run = lease.run(async () => {}, { wait: 1_000 }).catch((reason: unknown) => reason)
    await clock.advance(1_100)
    expect(await run).toMatchObject({ code: 'held', holder: 'other' })
  })

  it('asks the store for the holder when the refusal did not name it', async () => {
    const { clock, store, lease } = setUp()
    const run = lease.run(async () => {}).catch((reason: unknown) => reason)
    store.last('acquire').answer({ granted: false })
    await clock.settle()
    store.last('read').answer(record)
    expect(await run).toMatchObject({ code: 'held', holder: 'other' })
  })

  it('does not name a holder from an earlier attempt', async () => {
    const { clock, store, lease } = setUp()
    const first = lease.run(async () => {}).catch((reason: unknown) => reason)
    store.last('acquire').answer({ granted: false, holder: record })
    expect(await first).toMatchObject({ holder: 'other' })
    const second = lease.run(async () => {}).catch((reason: unknown) => reason)
    await clock.settle()
    store.last('acquire').answer({ granted: false })
    await clock.settle()
    store.last('read').answer({ ...record, owner: 'third' })
    expect(await second).toMatchObject({ holder: 'third' })
  })

  it.each([
    ['the store does not know it', { ...record, owner: '' }],
    ['the lease is free again', undefined],
  ])('has no holder when %s', async (_, answer) => {
    const { clock, store, lease } = setUp()
    const run = lease.run(async () => {}).catch((reason: unknown) => reason)
    store.last('acquire').answer({ granted: false })
    await clock.settle()
    store.last('read').answer(answer)
    expect(await run).toMatchObject({ code: 'held', holder: undefined })
  })

  it('has no holder when the store does not answer', async () => {
    const { clock, store, lease } = setUp()
    const run = lease.run(async () => {}).catch((reason: unknown) => reason)
    store.last('acquire').answer({ granted: false })
    await clock.settle()
    store.last('read').fail(new LeaseUnavailableError('no connection'))
    expect(await run).toMatchObject({ code: 'held', holder: undefined })
  })
})
