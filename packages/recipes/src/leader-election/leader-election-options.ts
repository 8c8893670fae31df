import { LeaseConfigurationError, type LeaseStore, type Metadata } from '@leasehold/core'
import { checkFault, checkMetadata, faultOfFunction, faultOfPause } from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import { type StartedRecipeOptions, startedRecipeOptionNames } from '../recipe-options.js'
import { ofRecipe, recipeOf } from '../record-kind.js'
import type { TermWork } from './term.js'

export interface LeaderElectionOptions extends StartedRecipeOptions {
  /**
   * The work of a term. It gets the term: its number, a fencing token to send with each write, and a signal that aborts
   * when the term is to end: at a loss, `resign()` and `stop()`. When it returns or throws, the term ends: an election
   * without work needs no leader. Without this option, a term lasts until a loss, `resign()` or `stop()`.
   */
  readonly onElected?: TermWork | undefined
  /** The metadata of the leader, for everyone who asks who leads, such as an address. */
  readonly metadata?: Metadata | undefined
  /**
   * The pause after a term that this process gave up, before it campaigns again, in milliseconds, so that another candidate
   * comes first. Default: twice `heartbeatInterval`, 10 s at most. By then every waiting candidate has asked.
   */
  readonly resignPause?: number | undefined
}

/** The options that the recipe adds to those of its lease. */
export interface CheckedOptions {
  readonly onElected: TermWork | undefined
  readonly metadata: Metadata
  readonly resignPause: number | undefined
}

const optionNames: OptionNames<LeaderElectionOptions> = {
  ...startedRecipeOptionNames,
  onElected: true,
  metadata: true,
  resignPause: true,
}

/** Throws a `LeaseConfigurationError` if an option is unknown or not valid, or if the store has no room for the metadata. */
export function checkedOptions(options: LeaderElectionOptions, store: LeaseStore): CheckedOptions {
  const { name, onElected, metadata, resignPause } = options
  const details: LeaseErrorDetails = { leaseName: name }
  checkOptionNames('LeaderElection', options, optionNames, details)
  checkFault(faultOfFunction('onElected', onElected) ?? faultOfPause('resignPause', resignPause), details)
  const named = namedMetadata(metadata, store, details)
  return { onElected, metadata: named, resignPause }
}

/** The metadata with the name of the recipe, where the store has room for any. */
function namedMetadata(metadata: Metadata | undefined, store: LeaseStore, details: LeaseErrorDetails): Metadata {
  const room = Object(store).limits?.metadata
  checkMetadata(metadata, details, room)
  if (room === 0) return {}
  if (recipeOf(metadata) !== undefined) {
    throw new LeaseConfigurationError(
      "the metadata of a leader must not have the key 'recipe': use another key",
      details,
    )
  }
  const named = ofRecipe('leader-election', { ...metadata })
  checkMetadata(named, details, room)
  return named
}
