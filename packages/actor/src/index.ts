export type { DropReason, LeaseGuardedOptions, StashOptions, StashOverflow } from './guard-options.js'
export type { GuardContext, GuardState, LeaseGuardedSnapshot } from './guard-snapshot.js'
export { type LeaseGuardedLogic, leaseGuarded } from './lease-guarded.js'
export { StashOverflowError } from './stash-overflow-error.js'
