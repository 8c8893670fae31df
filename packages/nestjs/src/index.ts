export { EveryInstance } from './guarded-cron.js'
export { LeaseHeld, LeaseSignal, LeaseToken } from './held-parameters.js'
export { LeasedCron, type LeasedCronOptions } from './leased-cron.js'
export {
  ConfigurableModuleClass,
  LEASEHOLD_OPTIONS,
  LeaseholdModule,
  type LeaseholdModuleExtras,
} from './leasehold-module.js'
export type { GuardCronOptions, LeaseholdModuleOptions, SharedLeaseOptions } from './leasehold-options.js'
export { type ElectionOptions, InjectLeases, type LeaseRunOptions, Leases } from './leases.js'
export { OnFollower, OnLeader } from './on-leader.js'
export { type LeaseNameSource, WithLease } from './with-lease.js'
