import type { Clock, Grant, LeaseRecord, LeaseStore } from '@leasehold/core'
import { type GrantKeeper, grantKeeper } from '@leasehold/core/internal'
import { viewOf } from '@leasehold/core/store'
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
  store: LeaseStore & { readonly [grantKeeper]?: GrantKeeper },
  clock: Clock,
  validity: GrantValidity,
  listener: ClaimListener,
  calls: CallsUnderWay,
): LeaseStore {
  const observeRenewal = async (grant: Grant, renew: () => ReturnType<LeaseStore['renew']>) => {
    const sentAt = clock.now()
    const outcome = await renew()
    if (outcome.renewed) validity.renewed(grant.grantId, sentAt)
    else validity.gone(grant.grantId, outcome.holder, sentAt)
    return outcome
  }
  const view = viewOf(store, {
    acquire: (acquire) => async (request, call) => {
      const sentAt = clock.now()
      validity.asked(request.grantId, sentAt)
      try {
        const outcome = await calls.during(() => acquire(request, call))
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
    renew: (renew) => (grant, call) => observeRenewal(grant, () => renew(grant, call)),
    update: (update) => (grant, metadata, call) => observeRenewal(grant, () => update(grant, metadata, call)),
    // There are only a few leases, and each renewal is observed by itself.
    renewMany: () => undefined,
    release: (release) => async (grant, call, metadata) => {
      validity.leaving(grant.grantId)
      return await calls.during(() => release(grant, call, metadata))
    },
    read: (read) => async (name, call) => {
      const sentAt = clock.now()
      const record = await calls.during(() => read(name, call))
      if (record !== undefined) validity.seen(record, sentAt)
      return record
    },
    withdraw:
      (withdraw) =>
      (...args) =>
        calls.during(() => withdraw(...args)),
  })
  const keeper = store[grantKeeper]
  return keeper === undefined ? view : Object.assign(view, { [grantKeeper]: keeper })
}
