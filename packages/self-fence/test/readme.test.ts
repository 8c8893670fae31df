import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { postAlone } from './readme/self-fence.js'

it('the example of the guarantees works under a lease with a self-fence, and releases it', async () => {
  const store = new MemoryLeaseStore()
  const held: unknown[] = []
  await postAlone(store, async () => void held.push(await createLease(store, 'ledger').acquire()))
  expect(held).toEqual([false])
  expect(await createLease(store, 'ledger').acquire()).toBe(true)
})
