import type { Grant } from '../store/lease-record.js'
import type { AbortListeners } from '../time/abort-listeners.js'
import type { Claim } from './claims.js'
import type { EngineEvent } from './engine-event.js'
import type { EngineState } from './engine-state.js'
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

/** The state, if the lease is held; its validity may be over. */
export function heldIn(
  state: SeenState,
): Extract<SeenState, { readonly grant: Grant; readonly validUntil: number }> | undefined {
  return state.phase === 'held' || state.phase === 'jeopardy' ? state : undefined
}
