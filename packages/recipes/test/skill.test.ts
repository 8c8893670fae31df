import { LeaseLostError, MemoryGuard, MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { type Accounts, book, startInterest } from './readme/skill.js'

const nothing = { addInterest: async () => {}, book: async () => {} } satisfies Accounts

it('the example for agents books one at a time, with a growing token that rejects a late write', async () => {
  const store = new MemoryLeaseStore()
  const balances = new MemoryGuard<number>()
  const tokens: bigint[] = []
  let atWork = 0
  const accounts: Accounts = {
    ...nothing,
    book: async (account, amount, signal, fencingToken) => {
      atWork += 1
      expect([atWork, signal.aborted]).toEqual([1, false])
      tokens.push(fencingToken)
      await Promise.resolve()
      balances.write(account, fencingToken, (balances.read(account) ?? 0) + amount)
      atWork -= 1
    },
  }
  await Promise.all([5, 7].map((amount) => book(store, accounts, 'anna', amount)))
  expect(balances.read('anna')).toBe(12)
  expect(() => balances.write('anna', tokens[0] ?? 0n, 0)).toThrow(LeaseLostError)
})

it('the example for agents starts a schedule that can be stopped', async () => {
  const schedule = startInterest(new MemoryLeaseStore(), nothing)
  expect((await schedule.read()).next).toBeInstanceOf(Date)
  await schedule.stop()
})
