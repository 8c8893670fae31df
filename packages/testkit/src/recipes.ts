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
