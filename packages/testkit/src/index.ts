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
export { checkGuardLaw, type GuardLaw, guardLaws } from './laws/guard-laws.js'
export type { GuardAbility, GuardBackend, GuardedResource, GuardSubject, OwnFailure } from './laws/guard-subject.js'
export type { GuardTrial } from './laws/guard-trial.js'
export type { Law, LawFamily, LawOutcome } from './laws/law.js'
export { checkLeaseLaw, type LeaseLaw, leaseLaws } from './laws/lease-laws.js'
export type { LeaseAbility, LeaseBackend, LeaseClaim, LeaseSubject } from './laws/lease-subject.js'
export type { LeaseTrial, OpenOptions, TrialLease } from './laws/lease-trial.js'
export { leasesOver } from './laws/leases-over.js'
export type { Machine, PassingTime } from './laws/passing-time.js'
export { checkStoreLaw, type StoreLaw, storeLaws } from './laws/store-laws.js'
export type { HolderElsewhere, StoreAbility, StoreBackend, StoreSubject } from './laws/store-subject.js'
export type { StoreTrial } from './laws/store-trial.js'
export { Random } from './random.js'
export { type CheckName, checks, type Violation } from './simulation/checks.js'
export type { Actor, HistoryEntry, HistoryEvent } from './simulation/history.js'
export type { NonsenseKind } from './simulation/nonsense.js'
export type {
  MachinePlan,
  PlannedTimeouts,
  SimulatedStoreKind,
  SimulationPlan,
} from './simulation/plan.js'
export { type FaultKind, type FaultSpan, faultKinds, type PlannedFault } from './simulation/planned-fault.js'
export type { SimulationReport } from './simulation/run-plan.js'
export { type SimulationOptions, simulate } from './simulation/simulate.js'
export { SimulationError } from './simulation/simulation-error.js'
export type { Misdeed, UserPart } from './simulation/user-code.js'
export type { SimulatedProcess, Workload } from './simulation/workload.js'
export { type TestAnswer, TestLease, type TestLeaseOptions } from './test-lease.js'
export { VirtualClock, type VirtualClockOptions } from './time/virtual-clock.js'
export { VirtualTime, type VirtualTimeOptions } from './time/virtual-time.js'
