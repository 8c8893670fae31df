import { LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import type { LocalLeaseStore } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { call, claim, granted, openStore, TTL } from './support/open-store.js'

const metadata = { version: '7' }

async function namesIn(store: LocalLeaseStore, prefix = ''): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { name } of store.list(prefix, call)) names.push(name)
  return names
}

describe('the metadata that a holder leaves', () => {
  it.each(['released', 'expired', 'broken'])('is `previous` of the next holder, in another store: %s', async (how) => {
    const folder = temporaryFolder()
    const clock = new VirtualClock()
    const [a, b] = [openStore({ folder, clock }), openStore({ folder, clock })]
    const first = await claim(a, 'A', { metadata: { version: '6' } })
    expect(first).not.toHaveProperty('previous')
    const grant = await granted(Promise.resolve(first))
    if (how === 'released') await a.release(grant, call, metadata)
    else expect(await a.update(grant, metadata, call)).toEqual({ renewed: true })
    if (how === 'expired') clock.block(TTL)
    if (how === 'broken') await a.break('job', { period: 0 }, call)
    for (const answer of ['first', 'repeated'])
      expect(await claim(b, 'B'), answer).toMatchObject({ previous: metadata })
    expect(await a.read('job', call)).toMatchObject({ grantId: 'B', metadata, previous: metadata })
  })

  it('is `previous` of the owner that the lease is passed on to, and stays in the record', async () => {
    const store = openStore({ folder: temporaryFolder(), clock: new VirtualClock() })
    const grant = await granted(claim(store, 'A', { metadata }))
    const to = { grantId: 'B', owner: 'b' }
    for (const answer of ['first', 'repeated']) {
      expect(await store.change(grant, to, call), answer).toMatchObject({ granted: true, previous: metadata })
    }
    expect(await store.read('job', call)).toMatchObject({ grantId: 'B', metadata, previous: metadata })
  })

  it('is not changed by an owner whose grant is over', async () => {
    const store = openStore({ folder: temporaryFolder(), clock: new VirtualClock() })
    const grant = await granted(claim(store, 'A'))
    await store.break('job', { period: 0 }, call)
    await claim(store, 'B')
    expect(await store.update(grant, metadata, call)).toMatchObject({ renewed: false, reason: 'taken' })
    expect(await store.release(grant, call, metadata)).toMatchObject({ released: false, holder: { grantId: 'B' } })
    expect(await store.read('job', call)).toMatchObject({ grantId: 'B', metadata: {} })
  })

  it('must fit into the record', async () => {
    const store = openStore({ folder: temporaryFolder() })
    const grant = await granted(claim(store, 'A'))
    const large = { text: 'x'.repeat(4_097) }
    await expect(store.update(grant, large, call)).rejects.toMatchObject({ code: 'configuration' })
    await expect(store.release(grant, call, large)).rejects.toMatchObject({ code: 'configuration' })
  })
})

describe('a listing', () => {
  it('yields the records of all processes that start with the prefix, held or not', async () => {
    const folder = temporaryFolder()
    const [a, b] = [openStore({ folder }), openStore({ folder })]
    for (const name of ['jobs/1', 'jobs/ü', 'other', 'jobs/2']) await claim(a, name, { name })
    await a.release(await granted(claim(a, 'jobs/3', { name: 'jobs/3' })), call)
    expect(await namesIn(b, 'jobs/')).toEqual(['jobs/1', 'jobs/ü', 'jobs/2', 'jobs/3'])
    expect((await b.list('jobs/3', call).next()).value).toMatchObject({ state: 'available', owner: 'owner of jobs/3' })
  })

  it('of 20,000 names misses none', async () => {
    const store = openStore({ folder: temporaryFolder() })
    const names = Array.from({ length: 20_000 }, (_, place) => `name ${place}`)
    await Promise.all(names.map((name) => claim(store, name, { name })))
    expect(await namesIn(store)).toEqual(names)
  }, 60_000)

  it('ends when its call is aborted, and when the store is closed', async () => {
    const store = openStore({ folder: temporaryFolder() })
    for (const name of ['a', 'b', 'c']) await claim(store, name, { name })
    const aborted = new AbortableCall()
    const [first, second] = [store.list('', aborted), store.list('', call)]
    for (const listing of [first, second]) expect(await listing.next()).toMatchObject({ done: false })
    aborted.abort(new Error('enough'))
    await expect(first.next()).rejects.toThrow('enough')
    await store.close()
    await expect(second.next()).rejects.toBeInstanceOf(LeaseUnavailableError)
    await expect(store.list('', call).next()).rejects.toBeInstanceOf(LeaseUnavailableError)
  })
})

describe('the time of a grant and the count of its renewals', () => {
  it('are the same in another store of the folder', async () => {
    const folder = temporaryFolder()
    const clock = new VirtualClock()
    const [a, b] = [openStore({ folder, clock }), openStore({ folder, clock })]
    const grant = await granted(claim(a, 'A'))
    const grantedAt = clock.wall()
    clock.block(1_000)
    await a.renew(grant, call)
    expect(await b.read('job', call)).toMatchObject({ grantedAt, renewals: 1 })
    await b.renew(grant, call)
    expect(await a.read('job', call)).toMatchObject({ grantedAt, renewals: 2 })
  })
})
