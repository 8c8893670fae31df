import { MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { createRates, inTable } from '../readme/single-flight.js'
import { createPlace, times } from './place.js'

it('the example of the README loads the rates once for all instances', async () => {
  const store = new MemoryLeaseStore()
  let loads = 0
  const load = async () => {
    loads += 1
    return { usd: 1.1 }
  }
  const instances = [createRates(store, load), createRates(store, load)]
  expect(await Promise.all(instances.map((rates) => rates('eur')))).toEqual([{ usd: 1.1 }, { usd: 1.1 }])
  expect(loads).toBe(1)
})

it('the example of a place keeps the values in a table, and refuses an old token', async () => {
  const rows = new Map<string, { readonly value: unknown; readonly token: bigint }>()
  const place = inTable({
    select: async (key) => rows.get(key),
    upsertIfNewer: async (key, value, token) => {
      if (token <= (rows.get(key)?.token ?? 0n)) return 0
      rows.set(key, { value, token })
      return 1
    },
  })
  const { create, settled } = createPlace()
  expect(await settled(create({ place }).get('key', async () => 'x'.repeat(10_000), times))).toHaveLength(10_000)
  await expect(place.write('key', 'late', 0n)).rejects.toThrow('a later value was written')
})
