export { AllOf, type AllOfAcquireOptions, type AllOfOptions } from './all-of/all-of.js'
export type { Rank } from './leader-election/candidacy.js'
export type { Candidate } from './leader-election/candidates.js'
export type { Leader } from './leader-election/leader.js'
export {
  type ElectionStopOptions,
  LeaderElection,
  type LeaderEvents,
} from './leader-election/leader-election.js'
export type { LeaderElectionOptions } from './leader-election/leader-election-options.js'
export type { Prepare } from './leader-election/preparation.js'
export type { TransferredTerm } from './leader-election/succession.js'
export type { Term, TermWork } from './leader-election/term.js'
export { FailedJobsError } from './lease-manager/failed-jobs-error.js'
export type { JobWorker, ProcessedJobs } from './lease-manager/job-run.js'
export {
  LeaseManager,
  type LeaseManagerEvents,
  type LeaseManagerOptions,
  type ManagedAcquireOptions,
  type ProcessEachOptions,
} from './lease-manager/lease-manager.js'
export type { Lock, LockInfo, LockManagerSnapshot, LockMode, LockOptions } from './lock-manager/lock.js'
export { createLockManager, type LockManager, type LockManagerOptions } from './lock-manager/lock-manager.js'
export { Once, type OnceOptions, type OnceOutcome, type OnceRunOptions } from './once.js'
export { type GroupMember, type MemberMetadata, readPartitionGroup } from './partition-group/group-member.js'
export {
  type AssignedPartition,
  PartitionGroup,
  type PartitionGroupEvents,
  type PartitionGroupOptions,
  type PartitionWork,
} from './partition-group/partition-group.js'
export { type ConfiguredOptions, type ConfiguredRecipe, type RecipeKind, readRecipe } from './read-recipe.js'
export { ReadWriteLease, type ReadWriteLeaseOptions } from './read-write/read-write-lease.js'
export { Recipe, type RecipeEvents, StartedRecipe, type StopOptions } from './recipe.js'
export type { RecipeOptions, StartedRecipeOptions } from './recipe-options.js'
export { recipeSettings } from './recipe-settings.js'
export type { RunRequest, SchedulePause } from './schedule/control-record.js'
export { type ListedSchedule, listSchedules } from './schedule/list-schedules.js'
export { Schedule, type ScheduleEvents } from './schedule/schedule.js'
export {
  type PauseOptions,
  type RunNowOptions,
  ScheduleControl,
  type ScheduleControlOptions,
} from './schedule/schedule-control.js'
export type { ScheduledWork, ScheduleOptions, Tick } from './schedule/schedule-options.js'
export type { ScheduledOutcome, ScheduledRun } from './schedule/schedule-record.js'
export type { ScheduleStatus } from './schedule/schedule-status.js'
export {
  type ClaimedTick,
  type TickClaimOptions,
  TickClaims,
  type TickClaimsOptions,
} from './schedule/tick-claims.js'
export type { TimetableOptions } from './schedule/timetable.js'
export type { Permit, PermitHeld } from './semaphore/permit.js'
export { type ResizeOptions, Semaphore, type SemaphoreOptions } from './semaphore/semaphore.js'
export type { FlightState } from './single-flight/flight-record.js'
export { SingleFlight, type SingleFlightValue } from './single-flight/single-flight.js'
export type {
  Refresh,
  Refreshing,
  SingleFlightGetOptions,
  SingleFlightOptions,
  SingleFlightPlace,
  TimeOf,
} from './single-flight/single-flight-options.js'
