import type { LeaseLost } from '@leasehold/core'

/** What moves the guard from state to state; the names are those of the statechart. */
export type ControlType =
  | 'lease.granted'
  | 'lease.refused'
  | 'lease.lost'
  | 'lease.retry'
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
 * way. Told from messages by its class: a message cannot pass for one, whatever its type says.
 */
export class ControlEvent {
  readonly type: ControlType
  readonly details: ControlDetails

  constructor(type: ControlType, details: ControlDetails = {}) {
    this.type = type
    this.details = details
  }
}

const reservedPrefix = 'xstate.'

/** Whether a type is XState's own. Such events are for actors, not for workers: never stashed, never forwarded. */
export function isReserved(type: string): boolean {
  return type.startsWith(reservedPrefix)
}
