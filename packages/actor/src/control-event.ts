import type { LeaseLost } from '@leasehold/core'

/** What moves the guard from state to state; the names are those of the statechart. */
export type ControlType =
  | 'lease.granted'
  | 'lease.failed'
  | 'lease.refused'
  | 'lease.lost'
  | 'lease.retry'
  | 'lease.unstash'
  | 'xstate.done.actor.worker'
  | 'xstate.error.actor.worker'

/** Why it came to that, for the guard and for whoever inspects the actor. */
export interface ControlDetails {
  readonly lost?: LeaseLost
  readonly error?: unknown
  readonly output?: unknown
}

/**
 * An event that the guard sends to itself, so that it is seen by inspectors and takes its turn behind what is under
 * way. Told from messages by a brand that nobody else can give: a message cannot pass for one, whatever it says.
 */
export class ControlEvent {
  readonly type: ControlType
  readonly details: ControlDetails
  readonly #brand = true

  constructor(type: ControlType, details: ControlDetails = {}) {
    this.type = type
    this.details = details
  }

  /** Asked of every message; `instanceof` would cost more than all the rest that the guard does to one. */
  static is(event: object): event is ControlEvent {
    return #brand in event
  }
}

const reservedPrefix = 'xstate.'

/** Whether a type is XState's own. Such events are for actors, not for workers: never stashed, never forwarded. */
export function isReserved(type: string): boolean {
  return type.startsWith(reservedPrefix)
}
