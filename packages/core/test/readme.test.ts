import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { migrateOnce } from './readme/migration.js'

it('the example of the README migrates once, and a second instance gets a message', async () => {
  const store = new MemoryLeaseStore()
  expect(await migrateOnce(store, async () => {})).toBe('migrated')
  await createLease(store, 'migration').acquire()
  expect(await migrateOnce(store, () => expect.unreachable())).toBe('another instance is migrating')
})
