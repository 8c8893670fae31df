import type { LeaseStore, Metadata } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { call, granted, NAME, requestOf, TTL, twoStores } from './two-stores.js'

async function previousOf(store: LeaseStore): Promise<Metadata | undefined> {
  const outcome = await store.acquire(requestOf('reader'), call)
  if (!outcome.granted) throw new Error('refused')
  await store.release(outcome.grant, call)
  return outcome.previous
}

async function leaves(store: LeaseStore, metadata: Metadata): Promise<void> {
  await store.release(await granted(store, 'writer'), call, metadata)
}

describe('metadata', () => {
  it('goes from the old processes over the migrating ones to the new ones', async () => {
    const { from, to, both } = await twoStores()
    await leaves(from, { tick: '1' })
    expect(await previousOf(both)).toEqual({ tick: '1' })
    expect(await previousOf(to)).toMatchObject({ tick: '1' })
    await leaves(from, { tick: '2' })
    expect(await previousOf(both)).toEqual({ tick: '2' })
    await leaves(both, { tick: '3' })
    expect(await previousOf(from)).toEqual({ tick: '3' })
    expect(await previousOf(to)).toMatchObject({ tick: '3' })
    await leaves(to, { tick: '4' })
    expect(await previousOf(both)).toEqual({ tick: '4' })
    expect(await previousOf(from)).toEqual({ tick: '4' })
  })

  it('that a new process spreads and changes is newer than that of the old store', async () => {
    const { to, both } = await twoStores()
    await leaves(both, { tick: '1', kept: 'yes' })
    const copied = await previousOf(to)
    await leaves(to, { ...copied, tick: '2' })
    expect(await previousOf(both)).toEqual({ tick: '2', kept: 'yes' })
  })

  it('of the old store stays where the name was used in the new one before, without metadata', async () => {
    const { from, to, both } = await twoStores('to')
    expect((await to.read(NAME))?.metadata).toEqual({})
    await leaves(from, { tick: '1' })
    expect(await previousOf(both)).toEqual({ tick: '1' })
  })

  it('that a new process only kept does not hide that of an old one, after a way back', async () => {
    const { from, to, both } = await twoStores()
    await leaves(both, { tick: '1' })
    await previousOf(to)
    await leaves(from, { tick: '2' })
    expect(await previousOf(both)).toEqual({ tick: '2' })
  })

  it('is not lost with the process that wrote it, at any call', async () => {
    const { clock, from, to, both } = await twoStores()
    const grant = await granted(both, 'writer')
    to.update = () => new Promise(() => {})
    void both.update?.(grant, { tick: '1' }, call)
    await clock.settle()
    Reflect.deleteProperty(to, 'update')
    await clock.advance(TTL)
    expect(await previousOf(both)).toEqual({ tick: '1' })
    const next = await granted(both, 'next writer')
    from.release = () => new Promise(() => {})
    void both.release(next, call, { tick: '2' })
    await clock.settle()
    Reflect.deleteProperty(from, 'release')
    await clock.advance(TTL)
    expect(await previousOf(both)).toEqual({ tick: '2' })
  })

  it('of the new store is not lost with a process that is copying it back', async () => {
    const { clock, to, both } = await twoStores()
    await leaves(both, { tick: '1' })
    await leaves(to, { tick: '2' })
    to.update = () => new Promise(() => {})
    void both.acquire(requestOf('dying'), call)
    await clock.settle()
    Reflect.deleteProperty(to, 'update')
    await clock.advance(TTL)
    expect(await previousOf(both)).toEqual({ tick: '2' })
  })

  it('given with a claim is in both records, and the mark of the copy is not shown', async () => {
    const { from, to, both } = await twoStores()
    await granted(both, 'holder', { metadata: { region: 'a' } })
    expect((await from.read(NAME))?.metadata).toEqual({ region: 'a' })
    expect((await to.read(NAME))?.metadata).toMatchObject({ region: 'a' })
    expect((await both.read(NAME, call))?.metadata).toEqual({ region: 'a' })
    const refused = await both.acquire(requestOf('other'), call)
    expect(refused).toMatchObject({ granted: false, holder: { metadata: { region: 'a' } } })
  })

  it('has room for the mark of the copy', async () => {
    const { both } = await twoStores()
    const room = both.limits.metadata ?? 0
    expect(room).toBeGreaterThan(4_000)
    const grant = await granted(both, 'holder')
    expect(await both.update?.(grant, { a: 'x'.repeat(room - 1) }, call)).toEqual({ renewed: true })
    await expect(both.update?.(grant, { a: 'x'.repeat(room) }, call)).rejects.toThrow('bytes')
  })

  it('that does not fit the new store is an error that says so, and leaves nothing locked', async () => {
    const { from, to, both } = await twoStores()
    await leaves(from, { a: 'x'.repeat(4_095) })
    await expect(both.acquire(requestOf('holder'), call)).rejects.toThrow(/memory \(to\): metadata has \d+ bytes/)
    for (const store of [from, to]) expect((await store.read(NAME))?.state).toBe('available')
  })
})
