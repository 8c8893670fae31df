// #region withdraw
import { createLease, type LeaseStore } from '@leasehold/core'

export interface Accounts {
  read(account: string): Promise<number>
  write(account: string, balance: number, fencingToken: bigint): Promise<void>
}

/** Waits for up to two seconds while another process has the account. */
export async function withdraw(store: LeaseStore, accounts: Accounts, account: string, amount: number) {
  const lease = createLease(store, `account/${account}`, { heartbeatTimeout: 5_000 })
  await lease.run(
    async ({ signal, fencingToken }) => {
      const balance = await accounts.read(account)
      signal.throwIfAborted()
      await accounts.write(account, balance - amount, fencingToken)
    },
    { wait: 2_000 },
  )
}
// #endregion withdraw
