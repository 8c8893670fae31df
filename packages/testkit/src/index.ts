export {
  type CallDescription,
  type Fault,
  type FaultPlan,
  type SeededFaultOptions,
  type StoreOperation,
  seededFaults,
} from './faults/fault.js'
export { FaultyStore, type FaultyStoreOptions } from './faults/faulty-store.js'
export { TcpProxy } from './faults/tcp-proxy.js'
export { checkGuardLaw, guardLaws } from './laws/guard-laws.js'
export type { GuardAbility, GuardBackend, GuardedResource, GuardSubject, OwnFailure } from './laws/guard-subject.js'
export type { GuardLaw, GuardTrial } from './laws/guard-trial.js'
export type { Law, LawFamily, LawOutcome } from './laws/law.js'
export { checkLeaseLaw, leaseLaws } from './laws/lease-laws.js'
export type { LeaseAbility, LeaseBackend, LeaseClaim, LeaseSubject } from './laws/lease-subject.js'
export type { LeaseLaw, LeaseTrial, OpenOptions, TrialLease } from './laws/lease-trial.js'
export { leasesOver } from './laws/leases-over.js'
export type { Machine, PassingTime } from './laws/passing-time.js'
export { checkStoreLaw, storeLaws } from './laws/store-laws.js'
export type { HolderElsewhere, StoreAbility, StoreBackend, StoreSubject } from './laws/store-subject.js'
export type { StoreLaw, StoreTrial } from './laws/store-trial.js'
export type { Random } from './random.js'
export { type SimulationOptions, type SimulationReport, simulate } from './simulate.js'
export type { SimulatedProcess } from './simulation/simulated-process.js'
export { SimulationError } from './simulation/simulation-error.js'
export { type TestAnswer, TestLease, type TestLeaseOptions } from './test-lease.js'
export { VirtualClock, type VirtualClockOptions } from './time/virtual-clock.js'
export { VirtualTime, type VirtualTimeOptions } from './time/virtual-time.js'
