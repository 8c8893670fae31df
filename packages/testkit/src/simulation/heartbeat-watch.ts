import type { Grant, LeaseStore } from '@leasehold/core'

/** Who is told of the heartbeats of one process. */
export interface HeartbeatObserver {
  onHeartbeat(grant: Grant): void
  onTwoInFlight(): void
}

/**
 * Has the observer told of the heartbeats that go through a store. Those that it takes many at a time are not seen: a
 * batch is sent in a turn of its own, in which a release may come first.
 */
export function watchHeartbeats(store: LeaseStore, observer: HeartbeatObserver): void {
  const inFlight = new Set<string>()
  const renew = store.renew.bind(store)
  store.renew = (grant, signal) => {
    observer.onHeartbeat(grant)
    if (inFlight.has(grant.grantId)) observer.onTwoInFlight()
    inFlight.add(grant.grantId)
    return renew(grant, signal).finally(() => inFlight.delete(grant.grantId))
  }
}
