import { checkOptionNames, type OptionNames } from '../errors/option-names.js'
import type { LeaseFactoryContext } from '../lease/lease-factory.js'
import type { ParentLease } from '../parent/parent.js'
import type { Clock } from '../time/clock.js'
import type { Logger } from '../user-code/logger.js'

export interface LeaseEnvironment {
  /** The machine's clock unless given. */
  readonly clock?: Clock | undefined
  /** Process warnings unless given. */
  readonly logger?: Logger | undefined
  /** Random numbers from 0 to 1, 1 excluded, for jitter; `Math.random` unless given. */
  readonly random?: (() => number) | undefined
}

/** The environment of one lease. */
export interface StoreLeaseEnvironment extends LeaseEnvironment {
  /**
   * The lease under which this one stands: it is acquired only while its parent is valid, and its validity never outlasts
   * the parent's. A lease of this process, or one of another process (`watchParent`).
   */
  readonly parent?: ParentLease | undefined
}

/** The environment that a `LeaseProvider` gives a factory: the compiler reports a part that is forgotten here. */
export function environmentOf({ clock, logger, random }: LeaseFactoryContext): Required<LeaseEnvironment> {
  return { clock, logger, random }
}

/** Throws a `LeaseConfigurationError` for an unknown option. */
export function checkEnvironment(environment: StoreLeaseEnvironment): void {
  checkOptionNames<StoreLeaseEnvironment>('StoreLease', environment, environmentNames)
}

const environmentNames: OptionNames<StoreLeaseEnvironment & LeaseFactoryContext> = {
  clock: true,
  logger: true,
  random: true,
  parent: true,
  // Factories pass their context on.
  configPath: true,
  share: true,
}
