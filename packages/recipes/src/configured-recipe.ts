import type { LeaseProvider, LeaseStore } from '@leasehold/core'
import type { OptionDeclarations, OptionsOf, ProviderOptions } from '@leasehold/core/store'
import type { RecipeOptions } from './recipe-options.js'

/** The store and the options of a recipe, as a block of the configuration has them. */
export interface ConfiguredRecipe<D extends OptionDeclarations> {
  readonly store: LeaseStore
  readonly options: RecipeOptions & OptionsOf<D>
}

/**
 * Reads the block at `configPath`: the settings of the leases, as `provider.getLease` does, and the declared options of the
 * recipe. Rejects with a `LeaseConfigurationError` that names the block, the file and the line of a mistake.
 */
export async function readRecipe<D extends OptionDeclarations>(
  provider: LeaseProvider,
  name: string,
  configPath: string,
  declared: ProviderOptions<D>,
): Promise<ConfiguredRecipe<D>> {
  const { store, settings, clock, logger } = await provider.getStore(name, configPath, declared.keys)
  const { owner, timeouts, maxHold, options } = settings
  const { heartbeatTimeout, heartbeatInterval, operationTimeout, strategy } = timeouts
  const ofLeases = { owner, heartbeatTimeout, heartbeatInterval, operationTimeout, strategy, maxHold, clock, logger }
  return { store, options: { name, ...ofLeases, ...declared.read(options) } }
}
