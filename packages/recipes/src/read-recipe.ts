import { LeaseConfigurationError, type LeaseProvider, type LeaseStore } from '@leasehold/core'
import { leaseOptionsOf } from '@leasehold/core/internal'
import type { OptionsOf } from '@leasehold/core/store-kit'
import type { RecipeOptions } from './recipe-options.js'
import { recipeSettings } from './recipe-settings.js'

/** The kind of a recipe with settings in a configuration. */
export type RecipeKind = keyof typeof recipeSettings

/** The options of a recipe as a block of the configuration has them. */
export type ConfiguredOptions<K extends RecipeKind> = RecipeOptions &
  OptionsOf<(typeof recipeSettings)[K]['declarations']>

/** The store and the options of a recipe, for its constructor. */
export interface ConfiguredRecipe<K extends RecipeKind> {
  /** The provider closes it. */
  readonly store: LeaseStore
  readonly options: ConfiguredOptions<K>
}

/**
 * Reads the block at `configPath`: the store and the settings of its leases, as `provider.getLease` does, and the settings of
 * the recipe.
 *
 * ```ts
 * const { store, options } = await readRecipe(provider, 'schedule', 'nightly-report', 'reports.nightly')
 * const schedule = new Schedule(store, { ...options, work: writeReport })
 * ```
 *
 * Rejects with a `LeaseConfigurationError` that names the block, the file and the line of a mistake.
 */
export async function readRecipe<K extends RecipeKind>(
  provider: LeaseProvider,
  kind: K,
  name: string,
  configPath: string,
): Promise<ConfiguredRecipe<K>> {
  const declared = Object.hasOwn(recipeSettings, kind) ? recipeSettings[kind] : undefined
  if (declared === undefined) {
    const kinds = Object.keys(recipeSettings).join(', ')
    throw new LeaseConfigurationError(`there is no recipe '${kind}': use one of ${kinds}`, { leaseName: name })
  }
  const { store, settings, ...environment } = await provider.getStore(name, configPath, declared.keys)
  const ofRecipe = declared.read(settings.options) as OptionsOf<(typeof recipeSettings)[K]['declarations']>
  return { store, options: { name, ...leaseOptionsOf(settings), ...environment, ...ofRecipe } }
}
