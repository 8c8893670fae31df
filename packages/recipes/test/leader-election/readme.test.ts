import { MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { startIndexer } from './readme/indexer.js'

it('in the example of the README one instance indexes, and after it has stopped, the other one', async () => {
  const store = new MemoryLeaseStore()
  const done: string[] = []
  let notify = (): void => {}
  const start = (instance: string) =>
    startIndexer(store, async (term) => {
      done.push(`${instance} in term ${term}`)
      notify()
      await new Promise((resolve) => setImmediate(resolve))
    })
  const first = start('first')
  const second = start('second')
  await new Promise<void>((resolve) => {
    notify = () => done.length > 2 && resolve()
  })
  await first.stop()
  await new Promise<void>((resolve) => {
    notify = () => done.at(-1) === 'second in term 2' && resolve()
  })
  await second.stop()
  expect([...new Set(done)]).toEqual(['first in term 1', 'second in term 2'])
})
