import type { LeaseSettings } from '../settings/lease-settings.js'
import type { LeaseStore } from '../store/lease-store.js'
import type { Clock } from '../time/clock.js'
import type { Logger } from '../user-code/logger.js'
import type { Lease } from './lease.js'
import type { LeaseRecorder } from './lease-recorder.js'

/** The context that a `LeaseProvider` gives a factory, beside the settings. */
export interface LeaseFactoryContext {
  /** Where in the configuration the lease's block stands; leases of one path share their store. */
  readonly configPath: string
  readonly clock: Clock
  readonly logger: Logger
  /** Random numbers for jitter; absent unless the provider was given a source of its own. */
  readonly random?: (() => number) | undefined
  /** The recorder of the provider, or of the block; absent unless there is one. */
  readonly recorder?: LeaseRecorder | undefined
  /**
   * The store under `key`: opened by the first call, shared by later calls, and closed with the provider. If opening
   * fails, the next call tries again.
   */
  share<S extends LeaseStore>(key: string, open: () => S | Promise<S>): Promise<S>
  /**
   * The store of the block at another path, for a store that is made of others. The provider closes it. Rejects as
   * `LeaseProvider.getStore` does. Absent in a heartbeat thread.
   */
  storeAt?(configPath: string): Promise<LeaseStore>
}

/**
 * Makes the leases of one kind; `lease-class` names it. The provider's own block of the configuration is in
 * `settings.options`.
 */
export interface LeaseFactory {
  (settings: LeaseSettings, context: LeaseFactoryContext): Lease | Promise<Lease>
  /** The keys of the block that it reads beside the engine's, in camel case. Other keys are reported as unknown. */
  readonly optionKeys?: readonly string[]
}
