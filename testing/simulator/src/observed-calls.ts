import type { Grant } from '@leasehold/core'
import type { RenewOutcome } from '@leasehold/core/store'
import type { Monitor } from './monitor.js'
import type { ObservedLease } from './observed-lease.js'
import type { SimulationPlan } from './plan.js'
import type { ClientStore } from './simulated-store.js'

export interface Caller {
  readonly store: ClientStore
  readonly owner: string
  readonly leases: readonly ObservedLease[]
}

/**
 * Reports the calls that the leases of one process make to their store. Batched heartbeats are not observed: a
 * batch is sent in a later turn, and a release may come first. The answers of the store are passed on unchanged.
 */
export function observeCalls({ store, owner, leases }: Caller, monitor: Monitor, plan: SimulationPlan): void {
  const { acquire, renew, release, update, change, break: breaks } = store
  const { previous } = monitor
  // Otherwise a heartbeat that was given up is still in flight.
  const endsHeartbeats = plan.cancels && !plan.faults.some(({ kind }) => kind === 'nonsense')
  const inFlight = new Set<string>()
  const heartbeat = (grant: Grant, send: () => Promise<RenewOutcome>): Promise<RenewOutcome> => {
    const { grantId, fencingToken } = grant
    const owning = leases.filter((lease) => lease.owns(grantId))
    // A lease that the workload made itself.
    if (owning.length === 0) return send()
    const held = owning.find((lease) => lease.fencingToken === fencingToken)
    monitor.onHeartbeat(held, owner)
    if (endsHeartbeats && inFlight.has(grantId)) monitor.fail('two-in-flight', `of ${owner}`)
    const answer = send()
    if (answer instanceof Promise) {
      const end = (): unknown => inFlight.delete(grantId)
      inFlight.add(grantId)
      answer.then(end, end)
    }
    return answer
  }
  store.acquire = (request, call) => {
    previous.onSent(request.grantId, request.metadata)
    return acquire.call(store, request, call)
  }
  store.renew = (grant, call) => heartbeat(grant, () => renew.call(store, grant, call))
  store.release = (grant, call, metadata) => {
    monitor.onFreeing(grant)
    if (metadata !== undefined) previous.onSent(grant.grantId, metadata)
    return release.call(store, grant, call, metadata)
  }
  store.update = (grant, metadata, call) => {
    previous.onSent(grant.grantId, metadata)
    return heartbeat(grant, () => update.call(store, grant, metadata, call))
  }
  store.break = (name, options, call) => {
    monitor.onBreak(options.grantId)
    return breaks.call(store, name, options, call)
  }
  store.change = (grant, to, call) => {
    previous.onHandOff(grant, to.grantId)
    return change.call(store, grant, to, call)
  }
}
