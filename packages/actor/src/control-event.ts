import type { LeaseLost } from '@leasehold/core'

/** The events that change the state of a guarded actor, named as in the statechart. */
export type ControlType =
  | 'lease.granted'
  | 'lease.failed'
  | 'lease.refused'
  | 'lease.standby'
  | 'lease.lost'
  | 'lease.resign'
  | 'lease.retry'
  | 'lease.unstash'
  | 'xstate.done.actor.worker'
  | 'xstate.error.actor.worker'

/** The data of a control event, also visible to inspectors. */
export interface ControlDetails {
  readonly lost?: LeaseLost
  readonly error?: unknown
  readonly output?: unknown
}

/**
 * An event that a guarded actor sends to itself. It goes through the mailbox, so it is visible to inspectors and handled
 * in order. A private brand distinguishes it from messages, so a message cannot imitate it.
 */
export class ControlEvent {
  readonly type: ControlType
  readonly details: ControlDetails
  readonly #brand = true

  constructor(type: ControlType, details: ControlDetails = {}) {
    this.type = type
    this.details = details
  }

  /** Called for every message. `instanceof` would cost more than the rest of the forwarding. */
  static is(event: object): event is ControlEvent {
    return #brand in event
  }
}

/** Whether XState reserves the event type. Reserved events are neither stashed nor forwarded. */
export function isReserved(type: string): boolean {
  return type.startsWith('xstate.')
}
