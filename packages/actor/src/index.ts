export type { GuardContext, GuardState, LeaseGuardedSnapshot } from './guarded-snapshot.js'
export { type LeaseGuardedLogic, leaseGuarded } from './lease-guarded.js'
export type { DropReason, LeaseGuardedOptions, StashOptions, StashOverflow } from './lease-guarded-options.js'
export { StashOverflowError } from './stash.js'
