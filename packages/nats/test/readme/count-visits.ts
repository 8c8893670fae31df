import type { NatsGuard } from '@leasehold/nats'

// #region transact
/** Rejects with a LeaseLostError if a larger token has written the key. */
export async function countVisit(guard: NatsGuard, fencingToken: bigint): Promise<void> {
  await guard.transact('visits', fencingToken, (value) => {
    const visits = value === undefined ? 0 : Number(new TextDecoder().decode(value))
    return String(visits + 1)
  })
}
// #endregion transact
