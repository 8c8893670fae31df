// #region skill
import { createLease, type LeaseStore } from '@leasehold/core'
import { Schedule } from '@leasehold/recipes'

export interface Accounts {
  addInterest(signal: AbortSignal, fencingToken: bigint): Promise<void>
  book(account: string, amount: number, signal: AbortSignal, fencingToken: bigint): Promise<void>
}

/** Each instance calls this, and one of them does the work of each night. Call `stop()` of the result on SIGTERM. */
export function startInterest(store: LeaseStore, accounts: Accounts): Schedule {
  const schedule = new Schedule(store, {
    name: 'interest',
    cron: '0 3 * * *',
    timeZone: 'Europe/Berlin',
    work: ({ signal, fencingToken }) => accounts.addInterest(signal, fencingToken),
  })
  schedule.start()
  return schedule
}

/** One booking of an account at a time, over all instances. */
export async function book(store: LeaseStore, accounts: Accounts, account: string, amount: number): Promise<void> {
  const lease = createLease(store, `account/${account}`, { heartbeatTimeout: 15_000 })
  await lease.run(({ signal, fencingToken }) => accounts.book(account, amount, signal, fencingToken), { wait: 5_000 })
}
// #endregion skill
