import { LeaseError, type LeaseErrorDetails } from './lease-error.js'

/**
 * The store breaks a condition of leases, such as a service that ignores conditional writes: two owners could hold one name.
 * No lease was granted. Definitive until the setting is changed; the next `acquire` checks the store again. The message says
 * what to change.
 */
export class LeaseStoreUnfitError extends LeaseError {
  override readonly name = 'LeaseStoreUnfitError'
  override readonly code = 'unfit'
  /** The setting of the server to change, or the condition that the store breaks, such as `maxmemory-policy`. */
  readonly setting: string | undefined

  constructor(message: string, details: LeaseErrorDetails & { readonly setting?: string } = {}) {
    super(message, details)
    this.setting = details.setting
  }
}
