import type { Grant, LeaseStore, Metadata } from '@leasehold/core'
import type { RenewOutcome } from '@leasehold/core/store'

/** Sees the calls that the leases of one process make to their store. */
export interface CallObserver {
  onHeartbeat(grant: Grant): void
  onTwoInFlight(): void
  /** The store is asked to free a grant. */
  onFreeing(grant: Grant): void
  /** The store is asked to write metadata under a grant id. */
  onMetadata(grantId: string, metadata: Metadata): void
  onHandOff(grant: Grant, to: string): void
}

/**
 * Reports the heartbeats and the releases that go through a store. Batched heartbeats are not observed: a
 * batch is sent in a later turn, and a release may come first. The answers of the store are passed on unchanged.
 */
export function observeCalls(store: LeaseStore, observer: CallObserver): void {
  const inFlight = new Set<string>()
  const heartbeat = (grant: Grant, send: () => Promise<RenewOutcome>): Promise<RenewOutcome> => {
    observer.onHeartbeat(grant)
    if (inFlight.has(grant.grantId)) observer.onTwoInFlight()
    const answer = send()
    if (answer instanceof Promise) {
      const end = (): unknown => inFlight.delete(grant.grantId)
      inFlight.add(grant.grantId)
      answer.then(end, end)
    }
    return answer
  }
  const acquire = store.acquire.bind(store)
  const renew = store.renew.bind(store)
  const release = store.release.bind(store)
  const update = store.update?.bind(store)
  const change = store.change?.bind(store)
  store.acquire = (request, call) => {
    observer.onMetadata(request.grantId, request.metadata ?? {})
    return acquire(request, call)
  }
  store.renew = (grant, call) => heartbeat(grant, () => renew(grant, call))
  store.release = (grant, call, metadata) => {
    observer.onFreeing(grant)
    if (metadata !== undefined) observer.onMetadata(grant.grantId, metadata)
    return release(grant, call, metadata)
  }
  if (update !== undefined) {
    store.update = (grant, metadata, call) => {
      observer.onMetadata(grant.grantId, metadata)
      return heartbeat(grant, () => update(grant, metadata, call))
    }
  }
  if (change !== undefined) {
    store.change = (grant, to, call) => {
      observer.onHandOff(grant, to.grantId)
      return change(grant, to, call)
    }
  }
}
