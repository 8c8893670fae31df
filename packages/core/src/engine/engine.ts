import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { forChildren } from '../parent/child-grace.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { Grant } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import type { AbortListeners } from '../time/abort-listeners.js'
import type { Claim } from './claims.js'
import type { EngineEvent } from './engine-event.js'
import type { EngineState } from './engine-state.js'
import type { EngineEnvironment } from './event-context.js'
import { type GrantEffect, type GrantListener, onGrant } from './grant-effect.js'
import { LeaseEngine } from './lease-engine.js'
import type { LeaseRules } from './lease-rules.js'
import type { Fence } from './self-fence.js'

/** The state of an engine, as far as the lease needs it. */
export type SeenState =
  | { readonly phase: Exclude<EngineState['phase'], 'held' | 'jeopardy'> }
  | { readonly phase: 'held' | 'jeopardy'; readonly grant: Grant; readonly validUntil: number }

/** The engine of one lease, in this thread or in another. */
export interface Engine {
  readonly rules: LeaseRules
  readonly group: { readonly aborts: AbortListeners }
  readonly state: SeenState
  /** The owner that the last attempt was refused for, where the store named it. */
  readonly refusedFor: string | undefined
  /** Whether nothing is held and no caller waits. */
  readonly isQuiet: boolean
  /** The fence of the lease, where the engine itself arms it. */
  readonly fence?: Fence | undefined
  claim(claim: Claim, adopted?: Grant): void
  unclaim(claim: Claim): void
  abandon(): Promise<void>
  dispatch(event: EngineEvent): void
  onParentLost(): void
}

/** The key of the method by which a store makes the engines of its leases, where they do not run in this thread. */
export const makesEngine = Symbol('leasehold.makesEngine')

/** Makes the engine of one lease. */
export type EngineMaker = (
  settings: LeaseSettings,
  environment: EngineEnvironment,
  onGrant: (effect: GrantEffect) => void,
) => Engine

/** Throws a `LeaseConfigurationError` where the settings ask for something that the engine of the store cannot do. */
export function createEngine(
  settings: LeaseSettings,
  store: LeaseStore & { readonly [makesEngine]?: EngineMaker },
  environment: EngineEnvironment,
  lease: GrantListener,
): Engine {
  const make = store[makesEngine]
  const graced = forChildren(store, settings, environment.clock)
  if (make !== undefined) return make(settings, environment, (effect) => lease[onGrant](effect))
  if (settings.unresponsiveAfter === undefined) return new LeaseEngine(settings, graced, environment, lease)
  throw new LeaseConfigurationError(
    'unresponsiveAfter is for leases whose heartbeats are sent by a HeartbeatThread: open the store with one, or leave it out',
    { leaseName: settings.name, owner: settings.owner, store: store.kind ?? 'custom' },
  )
}

/** The state, if the lease is held; its validity may be over. */
export function heldIn(
  state: SeenState,
): Extract<SeenState, { readonly grant: Grant; readonly validUntil: number }> | undefined {
  return state.phase === 'held' || state.phase === 'jeopardy' ? state : undefined
}
