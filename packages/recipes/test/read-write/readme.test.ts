import { MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { priceList } from '../readme/price-list.js'

it('the example of the README reads together, and replaces alone', async () => {
  const store = new MemoryLeaseStore()
  const events: string[] = []
  let leave = (): void => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  let replacing: Promise<void> | undefined
  const reading = priceList(store).read(async () => {
    await priceList(store).read(async () => void events.push('two readers'))
    replacing = priceList(store).replace(async (_signal, token) => void events.push(`writer ${token}`))
    await left
    events.push('reader ends')
  })
  leave()
  await reading
  await replacing
  expect(events).toEqual(['two readers', 'reader ends', 'writer 3'])
  await store.close()
})
