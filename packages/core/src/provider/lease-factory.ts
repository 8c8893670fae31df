import type { Clock } from '../clock.js'
import type { Lease } from '../lease.js'
import type { LeaseSettings } from '../lease-settings.js'
import type { Logger } from '../logger.js'
import type { LeaseStore } from '../store/lease-store.js'

/** What a provider gives a factory beside the settings. */
export interface LeaseFactoryContext {
  /** Where in the configuration the lease's block stands; leases of one path share their store. */
  readonly configPath: string
  readonly clock: Clock
  readonly logger: Logger
  /**
   * The store kept under `key` for the life of the provider: opened by the first who asks, closed with the provider.
   * A failed opening is not kept: the next who asks tries again.
   */
  share<S extends LeaseStore>(key: string, open: () => S | Promise<S>): Promise<S>
}

/**
 * Makes the leases of one kind; what `lease-class` names. The provider's own block of the configuration is in
 * `settings.options`.
 */
export interface LeaseFactory {
  (settings: LeaseSettings, context: LeaseFactoryContext): Lease | Promise<Lease>
  /** The keys of the block that it reads beside the engine's, in the camel case of the code: others are warned of. */
  readonly optionKeys?: readonly string[]
}
