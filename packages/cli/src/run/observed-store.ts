import type { Clock, Grant, LeaseRecord, LeaseStore } from '@leasehold/core'
import type { CallsUnderWay } from './calls-under-way.js'
import type { GrantValidity } from './grant-validity.js'

/** The progress of a claim that waits, for people. */
export interface ClaimListener {
  /** Another owner holds the name; `undefined`: it is free, but it is another waiter's turn. */
  refused(holder: LeaseRecord | undefined): void
  /** A claim had no answer. */
  failed(error: unknown): void
}

/** The same store; the certain facts in its answers extend and end the validity. */
export function observeStore(
  store: LeaseStore,
  clock: Clock,
  validity: GrantValidity,
  listener: ClaimListener,
  calls: CallsUnderWay,
): LeaseStore {
  const { kind, limits, closed, change, break: breakName, withdraw, watch, watchGrant, update, list } = store
  const observeRenewal = async (grant: Grant, renew: () => ReturnType<LeaseStore['renew']>) => {
    const sentAt = clock.now()
    const outcome = await renew()
    if (outcome.renewed) validity.renewed(grant.grantId, sentAt)
    else validity.gone(grant.grantId, outcome.holder, sentAt)
    return outcome
  }
  // Without renewMany: there are only a few leases, and each renewal is observed by itself.
  return {
    limits,
    ...(kind === undefined ? {} : { kind }),
    ...(closed === undefined ? {} : { closed }),
    acquire: async (request, call) => {
      const sentAt = clock.now()
      validity.asked(request.grantId, sentAt)
      try {
        const outcome = await calls.during(() => store.acquire(request, call))
        if (outcome.granted) validity.granted(outcome.grant, sentAt)
        else {
          validity.refused(request.grantId)
          listener.refused(outcome.holder)
        }
        return outcome
      } catch (error) {
        listener.failed(error)
        throw error
      }
    },
    renew: (grant, call) => observeRenewal(grant, () => store.renew(grant, call)),
    release: async (grant, call, metadata) => {
      validity.leaving(grant.grantId)
      return await calls.during(() => store.release(grant, call, metadata))
    },
    read: async (name, call) => {
      const sentAt = clock.now()
      const record = await calls.during(() => store.read(name, call))
      if (record !== undefined) validity.seen(record, sentAt)
      return record
    },
    close: () => store.close(),
    ...(update && {
      update: (grant, metadata, call) => observeRenewal(grant, () => update.call(store, grant, metadata, call)),
    }),
    ...(change && { change: change.bind(store) }),
    ...(list && { list: list.bind(store) }),
    ...(breakName && { break: breakName.bind(store) }),
    ...(withdraw && { withdraw: (...args) => calls.during(() => withdraw.apply(store, args)) }),
    ...(watch && { watch: watch.bind(store) }),
    ...(watchGrant && { watchGrant: watchGrant.bind(store) }),
  }
}
