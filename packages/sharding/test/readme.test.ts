import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryState } from '../src/memory-state.js'
import { testMyState } from './readme/own-state.js'
import { countVisit, startCustomers } from './readme/visits.js'

it('the example counts the visits of a customer in one place', async () => {
  const folder = temporaryFolder()
  const processes = await Promise.all([startCustomers(folder), startCustomers(folder)])
  onTestFinished(async () => {
    await Promise.all(processes.map((customers) => customers.stop()))
  })
  const counts: number[] = []
  for (const customers of [...processes, ...processes]) counts.push(await countVisit(customers, 'customer-7'))
  expect(counts).toEqual([1, 2, 3, 4])
})

describe('the example of a state of your own', () => {
  let state = memoryState()
  testMyState(
    (title, run) =>
      it(title, async () => {
        state = memoryState()
        await run()
      }),
    () => state,
  )
})
