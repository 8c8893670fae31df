import { LeaseConfigurationError, type Metadata } from '@leasehold/core'
import { AbortableCall, casStore } from '@leasehold/core/store'
import { expect, it } from 'vitest'
import { MapRegister } from './map-register.js'

it('a compare-and-set store whose records have no room for metadata rejects each update and writes nothing', async () => {
  const register = new MapRegister()
  const store = casStore(register, { metadata: 0 })
  const call = new AbortableCall()
  const outcome = await store.acquire({ name: 'job', owner: 'a', grantId: 'a', ttl: 10_000 }, call)
  if (!outcome.granted) throw new Error('not granted')
  register.calls.length = 0
  await expect(store.update(outcome.grant, { zone: 'north' }, call)).rejects.toThrow(LeaseConfigurationError)
  await expect(store.update(outcome.grant, {}, call)).rejects.toMatchObject({
    leaseName: 'job',
    store: 'map',
    message: 'the map store cannot update metadata: its records have no room for it',
  })
  expect(register.calls).toEqual([])
})

it('a claim without metadata keeps that of the last holder, without the reason of a break', async () => {
  const register = new MapRegister()
  const store = casStore(register)
  const call = new AbortableCall()
  const claim = (grantId: string, metadata?: Metadata) => {
    return store.acquire({ name: 'job', owner: 'o', grantId, ttl: 10_000, ...(metadata && { metadata }) }, call)
  }
  await claim('a', { version: '7' })
  await store.break('job', { period: 0, reason: 'stuck' }, call)
  expect(await claim('b')).toMatchObject({ granted: true, previous: { version: '7', breakReason: 'stuck' } })
  expect(register.recordOf('job').metadata).toEqual({ version: '7' })
  // The metadata of the own grant stays as it is when its claim is repeated.
  await claim('b', { breakReason: 'mine' })
  await claim('b')
  expect(register.recordOf('job').metadata).toEqual({ breakReason: 'mine' })
})

it('a claim without metadata drops invalid metadata, so that a later grant is valid', async () => {
  const register = new MapRegister()
  const store = casStore(register)
  const call = new AbortableCall()
  await store.acquire({ name: 'job', owner: 'a', grantId: 'a', ttl: 10_000 }, call)
  const step: unknown = 7
  register.write('job', { ...register.recordOf('job'), owner: '', metadata: { step: step as string } })
  await store.acquire({ name: 'job', owner: 'b', grantId: 'b', ttl: 10_000 }, call)
  expect(register.recordOf('job').metadata).toEqual({})
})

it('invalid metadata that a holder left, or found, is dropped by each write and each answer', async () => {
  const register = new MapRegister()
  const store = casStore(register)
  const call = new AbortableCall()
  const claim = { name: 'job', owner: 'a', grantId: 'a', ttl: 10_000, metadata: { zone: 'north' } }
  const outcome = await store.acquire(claim, call)
  if (!outcome.granted) throw new Error('not granted')
  const invalid = { step: 7 } as unknown as Metadata
  register.write('job', { ...register.recordOf('job'), metadata: invalid, previous: invalid })
  expect(await store.read('job', call)).toMatchObject({ owner: 'a', metadata: {} })
  expect(await store.read('job', call)).not.toHaveProperty('previous')
  expect(await store.acquire({ ...claim, owner: 'b', grantId: 'b' }, call)).toMatchObject({ holder: { metadata: {} } })
  expect(await store.renew(outcome.grant, call)).toEqual({ renewed: true })
  expect(register.recordOf('job')).toMatchObject({ owner: 'a', metadata: {} })
  expect(register.recordOf('job')).not.toHaveProperty('previous')
})
