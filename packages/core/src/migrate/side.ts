import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import { LeaseError } from '../errors/lease-error.js'
import { LeaseNameError } from '../errors/lease-name-error.js'
import { LeaseStoreUnfitError } from '../errors/lease-store-unfit-error.js'
import { LeaseTimeoutError } from '../errors/lease-timeout-error.js'
import { LeaseUnauthorisedError } from '../errors/lease-unauthorised-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { reasonOf } from '../errors/shown-value.js'
import type { LeaseStore } from '../store/lease-store.js'
import type { StoreCall } from '../store/store-call.js'

/** A store whose grants can continue from the tokens of another one. */
export type RaisingStore = LeaseStore & Required<Pick<LeaseStore, 'raiseToken'>>

/** One of the two stores that leases move between. Its failures name it, such as `redis (from)`. */
export class Side {
  readonly role: 'from' | 'to'
  readonly store: RaisingStore
  readonly title: string

  constructor(role: 'from' | 'to', store: RaisingStore) {
    this.role = role
    this.store = store
    this.title = `${store.kind ?? 'store'} (${role})`
  }

  /** Rejects with the error of the store, under the name of this side. The reason of an abort stays as it is. */
  async ask<T>(call: StoreCall, operation: (store: RaisingStore) => Promise<T>): Promise<T> {
    try {
      return await operation(this.store)
    } catch (error) {
      throw call.aborted ? error : this.named(error)
    }
  }

  /** An error of the same class whose message and `store` name this side. */
  named(error: unknown): LeaseError {
    const message = `${this.title}: ${reasonOf(error)}`
    if (!(error instanceof LeaseError)) return new LeaseUnavailableError(message, { store: this.title, cause: error })
    const { leaseName, owner } = error
    const details = {
      ...(leaseName === undefined ? {} : { leaseName }),
      ...(owner === undefined ? {} : { owner }),
      store: this.title,
      cause: error,
    }
    switch (error.code) {
      case 'timeout':
        return new LeaseTimeoutError(message, details)
      case 'unavailable':
        return new LeaseUnavailableError(message, {
          ...details,
          retryAfter: (error as LeaseUnavailableError).retryAfter,
        })
      case 'unauthorised':
        return new LeaseUnauthorisedError(message, details)
      case 'conflict':
        return new LeaseConflictError(message, details)
      case 'configuration':
        return new LeaseConfigurationError(message, details)
      case 'name':
        return new LeaseNameError(message, details)
      case 'unfit': {
        const { setting } = error as LeaseStoreUnfitError
        return new LeaseStoreUnfitError(message, setting === undefined ? details : { ...details, setting })
      }
      default:
        // A store has no reason to reject with the others.
        return error
    }
  }
}
