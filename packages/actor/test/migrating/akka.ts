// #region lease
import { leaseGuarded } from '@leasehold/actor'
import type { LeaseProvider } from '@leasehold/core'
import { createActor, fromTransition } from 'xstate'

const orders = fromTransition((count: number, _order: { type: 'order' }) => count + 1, 0)

/** The actor stashes its messages until this process has the lease, and stops when it loses it. */
export async function startOrders(provider: LeaseProvider, owner: string) {
  const lease = await provider.getLease('orders', 'orders-lease', owner)
  const actor = createActor(leaseGuarded(orders, { lease, retryInterval: 5_000, onLeaseLost: 'reacquire' }))
  actor.start()
  return actor
}
// #endregion lease
