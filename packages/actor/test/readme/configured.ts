import { leaseGuarded } from '@leasehold/actor'
import { LeaseProvider, memoryLease } from '@leasehold/core'
import { createActor } from 'xstate'
import { orders } from './orders.js'

export const provider = new LeaseProvider({ orders: { lease: { leaseClass: 'memory' } } }, { memory: memoryLease })

// #region reference
export const configured = leaseGuarded(orders, {
  lease: { provider, name: 'orders', configPath: 'orders.lease', owner: 'orders-1' },
})
// #endregion reference

// #region system
export const actor = createActor(
  leaseGuarded(orders, {
    lease: ({ self }) => LeaseProvider.get(self.system).getLease('orders', 'orders.lease'),
  }),
)
provider.attach(actor.system)
actor.start()
// #endregion system
