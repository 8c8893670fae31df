export type { GuardContext, GuardState, LeaseGuardedSnapshot } from './guarded-snapshot.js'
export { type LeaseGuardedLogic, leaseGuarded } from './lease-guarded.js'
export type {
  DrainOptions,
  DropReason,
  LeaseGuardedOptions,
  StashOptions,
  StashOverflow,
} from './lease-guarded-options.js'
export type { LeaseReference } from './lease-of-actor.js'
export type { LossPolicy } from './loss-policy.js'
export { resign } from './resign.js'
export { StashOverflowError } from './stash.js'
