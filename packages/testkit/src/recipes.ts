export {
  checkRecipeLaw,
  type PlaceOptions,
  type RecipeLaw,
  type RecipePlace,
  type RecipeSubject,
  type RecipeTrial,
} from './laws/recipe-trial.js'
export { type AllOfLawOptions, type AllOfUnderLaw, allOfLaws } from './laws/recipes/all-of.js'
export {
  type ElectionLawOptions,
  type ElectionUnderLaw,
  leaderElectionLaws,
  type ReportedLeader,
} from './laws/recipes/leader-election.js'
export { type LeaseManagerUnderLaw, leaseManagerLaws } from './laws/recipes/lease-manager.js'
export { type OnceUnderLaw, onceLaws } from './laws/recipes/once.js'
export {
  type AssignedPartitionUnderTest,
  type PartitionGroupLawOptions,
  type PartitionGroupUnderTest,
  partitionGroupLaws,
} from './laws/recipes/partition-group.js'
export { type ReadWriteLawOptions, type ReadWriteUnderTest, readWriteLaws } from './laws/recipes/read-write.js'
export {
  type RecordedRun,
  type ScheduleLawOptions,
  type ScheduleUnderLaw,
  scheduleLaws,
} from './laws/recipes/schedule.js'
export {
  type PermitUnderTest,
  type SemaphoreLawOptions,
  type SemaphoreUnderTest,
  semaphoreLaws,
} from './laws/recipes/semaphore.js'
