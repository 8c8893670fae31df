export {
  checkRecipeLaw,
  type PlaceOptions,
  type RecipeLaw,
  type RecipePlace,
  type RecipeSubject,
  type RecipeTrial,
} from './laws/recipe-trial.js'
