export type { RecipeOptions } from './recipe-options.js'
