import { LeaseConfigurationError, type LeaseStore } from '@leasehold/core'
import { checkFault, faultOfFlag, roomOf, shownValue } from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import type { LeaderElectionOptions, StartedRecipeOptions } from '@leasehold/recipes'
import { startedRecipeOptionNames } from '@leasehold/recipes/internal'
import type { AnyActorLogic } from 'xstate'
import { checkEntityOptions, type EntityOptions, entityOptionNames } from './shard-region-options.js'

export interface SingletonOptions<Logic extends AnyActorLogic = AnyActorLogic>
  extends StartedRecipeOptions,
    Omit<EntityOptions<Logic>, 'entity'>,
    Pick<LeaderElectionOptions, 'prepare' | 'rank' | 'preempt' | 'resignPause'> {
  /** The logic of the actor, such as a state machine. Its input is `{ id }`: the name of the singleton. */
  readonly actor: Logic
  /** Whether this process may run the actor; `true` unless given. Otherwise it only sends. */
  readonly host?: boolean | undefined
}

const { entity: _, ...sharedNames } = entityOptionNames

const optionNames: OptionNames<SingletonOptions> = {
  ...startedRecipeOptionNames,
  ...sharedNames,
  prepare: true,
  rank: true,
  preempt: true,
  resignPause: true,
  actor: true,
  host: true,
}

/** Throws a typed error if an option is unknown or not valid. Those of the election and its lease are checked there. */
export function checkSingletonOptions(store: LeaseStore, options: SingletonOptions): void {
  const { name: leaseName, host = true, actor } = options
  const details = { leaseName, store: store?.kind ?? 'custom' }
  checkOptionNames('Singleton', options, optionNames, details)
  checkFault(faultOfFlag('host', host), details)
  if (typeof Object(actor).transition !== 'function' || typeof Object(actor).getInitialSnapshot !== 'function') {
    const message = `actor must be actor logic of XState, such as a state machine, not ${shownValue(actor)}`
    throw new LeaseConfigurationError(message, details)
  }
  checkEntityOptions({ ...options, entity: actor }, details)
}

/** The options of the election of a singleton. A process that waits is shown, so that the actor can pass to it without a gap. */
export function electionOptionsOf(store: LeaseStore, options: SingletonOptions): LeaderElectionOptions {
  const ofElection = Object.entries(options).filter(
    ([name]) => !(name in sharedNames || ['actor', 'host'].includes(name)),
  )
  const metadata = { address: options.transport.address }
  return {
    ...(Object.fromEntries(ofElection) as unknown as StartedRecipeOptions),
    metadata,
    advertise: canTransfer(store, options),
  }
}

/** Whether the actor can be passed to a process that waits, without a gap. */
export function canTransfer(store: LeaseStore, { childGrace }: SingletonOptions): boolean {
  const { change, list, limits = {} } = Object(store) as Partial<LeaseStore>
  return change !== undefined && list !== undefined && roomOf(limits) > 0 && childGrace === undefined
}
