import type { EtcdGuard } from '@leasehold/etcd'

// #region transaction
/** Whether the balance was still the one that was read. Rejects with a LeaseLostError if a larger token has written. */
export async function withdraw(guard: EtcdGuard, fencingToken: bigint, balance: string, next: string) {
  return await guard.transact('account/balance', fencingToken, {
    when: [{ key: 'account/balance', value: balance }],
    write: [
      { put: 'account/balance', value: next },
      { put: 'account/last', value: `from ${balance} to ${next}` },
    ],
  })
}
// #endregion transaction
