import { LeaseConfigurationError } from '@leasehold/core'
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
