export { durations } from '@leasehold/core'
export { AllOf, type AllOfAcquireOptions, type AllOfOptions, allOf } from './all-of/all-of.js'
export type { Leader } from './leader-election/leader.js'
export { LeaderElection, type LeaderEvents, type LeaderListener } from './leader-election/leader-election.js'
export type { LeaderElectionOptions } from './leader-election/leader-election-options.js'
export type { TermWork } from './leader-election/term.js'
export { FailedJobsError } from './lease-manager/failed-jobs-error.js'
export type { JobHeld, JobWorker, ProcessedJobs } from './lease-manager/job-run.js'
export {
  type CloseOptions,
  LeaseManager,
  type LeaseManagerEvents,
  type LeaseManagerListener,
  type LeaseManagerOptions,
  type ProcessEachOptions,
} from './lease-manager/lease-manager.js'
export { Once, type OnceOptions, type OnceOutcome, type OnceRunOptions } from './once.js'
export {
  type AssignedPartition,
  PartitionGroup,
  type PartitionGroupEvents,
  type PartitionGroupListener,
  type PartitionGroupOptions,
  type PartitionWork,
} from './partition-group/partition-group.js'
export { type ConfiguredOptions, type ConfiguredRecipe, type RecipeKind, readRecipe } from './read-recipe.js'
export { ReadWriteLease, type ReadWriteLeaseOptions } from './read-write/read-write-lease.js'
export type { RecipeOptions, StartedRecipeOptions } from './recipe-options.js'
export { recipeSettings } from './recipe-settings.js'
export {
  Schedule,
  type ScheduleEvents,
  type ScheduleListener,
  type ScheduleStatus,
  type ScheduleStopOptions,
} from './schedule/schedule.js'
export type { ScheduledWork, ScheduleOptions, Tick } from './schedule/schedule-options.js'
export type { ScheduledOutcome, ScheduledRun } from './schedule/schedule-record.js'
export type { TimetableOptions } from './schedule/timetable.js'
export type { Permit } from './semaphore/permit.js'
export { type ResizeOptions, Semaphore, type SemaphoreOptions } from './semaphore/semaphore.js'
