import { checkOptionNames, type OptionNames } from '../errors/option-names.js'
import type { LeaseEnvironment } from '../lease/lease-environment.js'
import type { LeaseFactoryContext } from '../lease/lease-factory.js'
import type { ParentLease } from '../parent/parent.js'

/** The environment of one lease. */
export interface StoreLeaseEnvironment extends LeaseEnvironment {
  /**
   * The lease under which this one stands: it is acquired only while its parent is valid, and its validity never outlasts
   * the parent's. A lease of this process, or one of another process (`watchParent`).
   */
  readonly parent?: ParentLease | undefined
}

/** Throws a `LeaseConfigurationError` for an unknown option. */
export function checkEnvironment(environment: StoreLeaseEnvironment): void {
  checkOptionNames<StoreLeaseEnvironment>('StoreLease', environment, environmentNames)
}

const environmentNames: OptionNames<StoreLeaseEnvironment & LeaseFactoryContext> = {
  clock: true,
  logger: true,
  random: true,
  recorder: true,
  parent: true,
  // Factories pass their context on.
  configPath: true,
  share: true,
  storeAt: true,
}
