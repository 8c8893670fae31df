export { AllOf, type AllOfOptions, allOf } from './all-of/all-of.js'
export type { AllOfAcquireOptions } from './all-of/joint-attempt.js'
export type { Leader } from './leader-election/leader.js'
export { LeaderElection } from './leader-election/leader-election.js'
export type { LeaderElectionOptions } from './leader-election/leader-election-options.js'
export type { LeaderEvents, LeaderListener } from './leader-election/leader-events.js'
export type { TermWork } from './leader-election/term.js'
export { FailedJobsError } from './lease-manager/failed-jobs-error.js'
export type { JobHeld, JobWorker, ProcessedJobs } from './lease-manager/job-run.js'
export {
  type CloseOptions,
  LeaseManager,
  type LeaseManagerOptions,
  type ProcessEachOptions,
} from './lease-manager/lease-manager.js'
export type { LeaseManagerEvents, LeaseManagerListener } from './lease-manager/manager-events.js'
export { type ConfiguredOptions, type ConfiguredRecipe, type RecipeKind, readRecipe } from './read-recipe.js'
export type { RecipeOptions } from './recipe-options.js'
export { recipeSettings } from './recipe-settings.js'
