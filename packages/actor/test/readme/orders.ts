import { leaseGuarded } from '@leasehold/actor'
import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { createActor, fromTransition } from 'xstate'

export const orders = fromTransition((count: number, _order: { type: 'order' }) => count + 1, 0)

const lease = createLease(new MemoryLeaseStore(), 'orders')
export const actor = createActor(leaseGuarded(orders, { lease, retryInterval: 5_000 }))
actor.subscribe({ error: (error) => process.emitWarning(String(error)) })
actor.start()
actor.send({ type: 'order' }) // stashed until the lease is granted, then forwarded
