/** The rules that are checked in every state, and on every step. */
export type Rule =
  /** Two clients consider themselves the holder, each by its own clock, at one instant. */
  | 'exclusion'
  /** A client considers itself the holder, while the store does not have its grant, or has let its time end. */
  | 'validity-outlives-grant'
  /** A new grant does not have a larger token than all earlier ones. */
  | 'fencing-token'
  /** `acquire` resolved with a grant whose validity is over. */
  | 'granted-but-not-held'
  /** A validity that had ended has returned. */
  | 'revived'
  /** A loss was reported twice, after a release, or without a grant. */
  | 'callback-twice'
  /** A grant ended without a report of its loss. */
  | 'loss-not-notified'
  /** A call of the user is pending, and nothing can settle it any more. */
  | 'stuck-call'
  /** A call was sent while another was under way. */
  | 'two-in-flight'
  /** A timer that is due does nothing, and so runs again and again. */
  | 'runaway'
  /** The transition function threw an error. */
  | 'uncaught-error'
  /** From a state, no state can be reached in which someone holds the lease. */
  | 'no-progress'

/** A rule that is broken, in a state or by the step that leads to it. */
export interface BrokenRule {
  readonly rule: Rule
  readonly message: string
}
