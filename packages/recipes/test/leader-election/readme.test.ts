import { MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { startIndexer } from './readme/indexer.js'
import { startWriter, stopWriter } from './readme/zero-gap.js'

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

it('in the example of the guide a leader that stops hands over to an instance that is ready', async () => {
  const store = new MemoryLeaseStore()
  const written: string[] = []
  let notify = (): void => {}
  const start = (owner: string) =>
    startWriter(store, owner, {
      warmUp: async () => {},
      write: async (term) => {
        written.push(`${owner} in term ${term}`)
        notify()
        await new Promise((resolve) => setImmediate(resolve))
      },
    })
  const until = (isIt: () => boolean) =>
    new Promise<void>((resolve) => {
      notify = () => isIt() && resolve()
    })
  const first = start('first')
  await until(() => written.length > 1)
  const second = start('second')
  // Until the second one is ready.
  while ((await first.candidates()).length === 0) await new Promise((resolve) => setImmediate(resolve))
  const next = until(() => written.at(-1) === 'second in term 2')
  await stopWriter(first)
  await next
  await stopWriter(second)
  expect([...new Set(written)]).toEqual(['first in term 1', 'second in term 2'])
})
