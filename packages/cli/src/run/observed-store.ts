import type { Clock, Grant, LeaseRecord, LeaseStore } from '@leasehold/core'

/** Gets the certain facts in the answers of a store. `sentAt`: when the request was sent, by the clock of the leases. */
export interface StoreObserver {
  /** A claim with this grant id is being sent. */
  asked(grantId: string, sentAt: number): void
  granted(grant: Grant, sentAt: number): void
  renewed(grantId: string, sentAt: number): void
  /** The grant is over. `holder`: the record of the name, where the store showed it. */
  gone(grantId: string, holder: LeaseRecord | undefined, sentAt: number): void
  /** The grant is being released. */
  leaving(grantId: string): void
  /** Another owner holds the name; `undefined`: it is free, but it is another waiter's turn. */
  refused(grantId: string, holder: LeaseRecord | undefined): void
  /** A claim had no answer. */
  failed(error: unknown): void
  /** The record of a name, as the store showed it. */
  seen(record: LeaseRecord, sentAt: number): void
}

/** The same store, whose answers an observer sees. */
export function observeStore(store: LeaseStore, clock: Clock, observer: StoreObserver): LeaseStore {
  const { kind, limits, closed, change, break: breakName, withdraw, watch, watchGrant, update, list } = store
  const observeRenewal = async (grant: Grant, renew: () => ReturnType<LeaseStore['renew']>) => {
    const sentAt = clock.now()
    const outcome = await renew()
    if (outcome.renewed) observer.renewed(grant.grantId, sentAt)
    else observer.gone(grant.grantId, outcome.holder, sentAt)
    return outcome
  }
  // Without renewMany: there are only a few leases, and each renewal is observed by itself.
  return {
    limits,
    ...(kind === undefined ? {} : { kind }),
    ...(closed === undefined ? {} : { closed }),
    acquire: async (request, call) => {
      const sentAt = clock.now()
      observer.asked(request.grantId, sentAt)
      try {
        const outcome = await store.acquire(request, call)
        if (outcome.granted) observer.granted(outcome.grant, sentAt)
        else observer.refused(request.grantId, outcome.holder)
        return outcome
      } catch (error) {
        observer.failed(error)
        throw error
      }
    },
    renew: (grant, call) => observeRenewal(grant, () => store.renew(grant, call)),
    release: async (grant, call, metadata) => {
      observer.leaving(grant.grantId)
      return await store.release(grant, call, metadata)
    },
    read: async (name, call) => {
      const sentAt = clock.now()
      const record = await store.read(name, call)
      if (record !== undefined) observer.seen(record, sentAt)
      return record
    },
    close: () => store.close(),
    ...(update && {
      update: (grant, metadata, call) => observeRenewal(grant, () => update.call(store, grant, metadata, call)),
    }),
    ...(change && { change: change.bind(store) }),
    ...(list && { list: list.bind(store) }),
    ...(breakName && { break: breakName.bind(store) }),
    ...(withdraw && { withdraw: withdraw.bind(store) }),
    ...(watch && { watch: watch.bind(store) }),
    ...(watchGrant && { watchGrant: watchGrant.bind(store) }),
  }
}
