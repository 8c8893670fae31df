import { LeaseConfigurationError, type LeaseStore, type Metadata } from '@leasehold/core'
import {
  checkFault,
  checkMetadata,
  faultOfFlag,
  faultOfFunction,
  faultOfPause,
  shownValue,
} from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import { type StartedRecipeOptions, startedRecipeOptionNames } from '../recipe-options.js'
import { ofRecipe, recipeOf } from '../record-kind.js'
import type { Rank } from './candidacy.js'
import { checkCanTransfer } from './candidates.js'
import type { Prepare } from './preparation.js'
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
  /**
   * Makes this process ready, such as by loading a cache, before it campaigns: until it has resolved, this process is no
   * candidate. It gets a signal that aborts with `stop()`. A failure is an `error` event, and it is tried again after a pause.
   */
  readonly prepare?: Prepare | undefined
  /**
   * How good a candidate this process is, a finite number, or a function that returns it now; 0 unless given. The best
   * candidate that is ready leads next. Read when this process becomes a candidate, and at every heartbeat.
   */
  readonly rank?: Rank | undefined
  /**
   * Whether this process, while it leads, transfers the leadership to a candidate of a higher rank; `false` unless given:
   * otherwise a healthy leader stays. It looks for candidates at every heartbeat interval.
   */
  readonly preempt?: boolean | undefined
  /**
   * Whether this process shows that it is ready while it waits, by a small lease of its own, so that the leader can transfer
   * the leadership to it. Default: `true` with `prepare`, `rank` or `preempt`, where the store can list and hand over leases.
   */
  readonly advertise?: boolean | undefined
}

/** The options that the recipe adds to those of its lease. */
export interface CheckedOptions {
  readonly onElected: TermWork | undefined
  readonly metadata: Metadata
  readonly resignPause: number | undefined
  readonly prepare: Prepare | undefined
  readonly rank: Rank
  readonly preempt: boolean
  readonly advertise: boolean
}

const optionNames: OptionNames<LeaderElectionOptions> = {
  ...startedRecipeOptionNames,
  onElected: true,
  metadata: true,
  resignPause: true,
  prepare: true,
  rank: true,
  preempt: true,
  advertise: true,
}

/** Throws a `LeaseConfigurationError` if an option is unknown or not valid, or if the store has no room for the metadata. */
export function checkedOptions(options: LeaderElectionOptions, store: LeaseStore): CheckedOptions {
  const { name, onElected, metadata, resignPause } = options
  const details: LeaseErrorDetails = { leaseName: name }
  checkOptionNames('LeaderElection', options, optionNames, details)
  checkFault(faultOfFunction('onElected', onElected) ?? faultOfPause('resignPause', resignPause), details)
  const named = namedMetadata(metadata, store, details)
  return { onElected, metadata: named, resignPause, ...checkedCandidacy(options, store, details) }
}

/** The options of a candidate. Throws a `LeaseConfigurationError` if the store lacks an ability that one of them needs. */
function checkedCandidacy(
  { prepare, rank, preempt = false, advertise, childGrace }: LeaderElectionOptions,
  store: LeaseStore,
  details: LeaseErrorDetails,
): Pick<CheckedOptions, 'prepare' | 'rank' | 'preempt' | 'advertise'> {
  checkFault(
    faultOfFunction('prepare', prepare) ??
      faultOfRank(rank) ??
      faultOfFlag('preempt', preempt) ??
      (advertise === undefined ? undefined : faultOfFlag('advertise', advertise)),
    details,
  )
  const needsStore = rank !== undefined || preempt || advertise === true
  if (needsStore) checkCanTransfer(store, details, childGrace)
  const canTransfer = needsStore || (childGrace === undefined && canTransferIn(store))
  const isAdvertised = advertise ?? ((needsStore || prepare !== undefined) && canTransfer)
  return { prepare, rank: rank ?? 0, preempt, advertise: isAdvertised }
}

function canTransferIn(store: LeaseStore): boolean {
  const { change, list, limits } = Object(store) as Partial<LeaseStore>
  return change !== undefined && list !== undefined && limits?.metadata !== 0
}

function faultOfRank(rank: unknown): string | undefined {
  if (rank === undefined || typeof rank === 'function' || (typeof rank === 'number' && Number.isFinite(rank)))
    return undefined
  return `rank must be a finite number or a function that returns one, not ${shownValue(rank)}`
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
