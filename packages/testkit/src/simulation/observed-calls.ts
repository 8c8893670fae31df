import type { Grant, LeaseStore } from '@leasehold/core'

/** Sees the calls that the leases of one process make to their store. */
export interface CallObserver {
  onHeartbeat(grant: Grant): void
  onTwoInFlight(): void
  /** The store is asked to free a grant. */
  onFreeing(grant: Grant): void
}

/**
 * Reports the heartbeats and the releases that go through a store. Heartbeats that it takes many at a time are not seen: a
 * batch is sent in a turn of its own, in which a release may come first. What the store answers is passed on untouched.
 */
export function observeCalls(store: LeaseStore, observer: CallObserver): void {
  const inFlight = new Set<string>()
  const renew = store.renew.bind(store)
  const release = store.release.bind(store)
  store.renew = (grant, call) => {
    observer.onHeartbeat(grant)
    if (inFlight.has(grant.grantId)) observer.onTwoInFlight()
    const answer = renew(grant, call)
    if (answer instanceof Promise) {
      const end = (): unknown => inFlight.delete(grant.grantId)
      inFlight.add(grant.grantId)
      answer.then(end, end)
    }
    return answer
  }
  store.release = (grant, call, metadata) => {
    observer.onFreeing(grant)
    return release(grant, call, metadata)
  }
}
