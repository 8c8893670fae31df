import type { LeaseStore } from '../store/lease-store.js'
import { type CreateLeaseOptions, leaseParts } from './lease-options.js'
import { StoreLease } from './store-lease.js'

/**
 * A lease on `name` in the store. Throws a `LeaseNameError` or a `LeaseConfigurationError` if a setting is invalid, or
 * unknown.
 */
export function createLease(store: LeaseStore, name: string, options: CreateLeaseOptions = {}): StoreLease {
  const { settings, environment } = leaseParts('createLease', name, options)
  return new StoreLease(settings, store, environment)
}
