import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { shownValue } from '../errors/shown-value.js'
import type { LeaseRecorder } from '../lease/lease-recorder.js'
import type { Clock } from '../time/clock.js'
import { loadForSetting } from '../user-code/load-package.js'
import type { Transition } from './engine-effect.js'
import type { EngineEvent } from './engine-event.js'
import type { EngineState } from './engine-state.js'
import type { EngineEnvironment, EventContext } from './event-context.js'
import type { LeaseRules } from './lease-rules.js'
import { transition } from './transition.js'

/** In the global registry, so that all copies of this package share it. */
export const recordLease = Symbol.for('@leasehold/core/recordLease')

/** A recorder, as an engine uses it. */
export interface EngineRecorder extends LeaseRecorder {
  /**
   * What the thread of a self-fence writes to a file before it ends the process: three numbers (when the event loop was last
   * seen to turn, on the wall clock in milliseconds, the processor time until then, and the instant of `machineTime`), seven words of
   * 32 bits, and the text. Its first line is the path. The words: the length of the text; the number of its lines; the number of
   * the present turn of the event loop; one that is no concern of the thread; the length of the JSON at byte 65,536, which says
   * what blocks the event loop; the number of the turn for which it was written; and for how many milliseconds another thread has
   * seen that the event loop did not turn.
   */
  readonly lastWords?: SharedArrayBuffer | undefined
  /** Begins to record a lease. Throws a `LeaseConfigurationError` if it records leases of another clock. */
  [recordLease](lease: RecordedLease): LeaseRecording
}

/** The lease to record. */
export interface RecordedLease {
  readonly rules: LeaseRules
  readonly clock: Clock
  /** The state of the engine now. */
  readonly state: () => EngineState
}

/** Calls the transition function for the events of one lease, and records what it decided by. */
export interface LeaseRecording {
  /** Called without `this`. Must not throw. */
  readonly transition: (state: EngineState, event: EngineEvent, context: EventContext) => Transition
}

/** The transition function of a lease; with a recorder, what it decides is recorded. */
export function decider(
  { recorder, clock, userClock = clock }: EngineEnvironment,
  rules: LeaseRules,
  state: () => EngineState,
): typeof transition {
  const recording = recorder && toEngineRecorder(recorder)[recordLease]({ rules, clock: userClock, state })
  return recording === undefined ? transition : recording.transition
}

/** Throws a `LeaseConfigurationError` if this is no recorder. */
export function toEngineRecorder(recorder: LeaseRecorder): EngineRecorder {
  if (typeof Object(recorder)[recordLease] === 'function') return recorder as EngineRecorder
  throw new LeaseConfigurationError(
    `recorder must be a recorder, such as flightRecorder({ folder }) of @leasehold/recorder, not ${shownValue(recorder)}`,
  )
}

/** Rejects with a `LeaseConfigurationError` if `@leasehold/recorder` is not installed, or an option is not valid. */
export async function loadRecorder(options: object): Promise<LeaseRecorder> {
  const loaded = await loadForSetting('@leasehold/recorder', 'recorder')
  const { flightRecorder } = loaded as { readonly flightRecorder: (options: object) => LeaseRecorder }
  return flightRecorder(options)
}
