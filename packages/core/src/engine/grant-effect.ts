import type { DurationAdvice } from '../objective/duration-advice.js'
import type { Grant, Metadata } from '../store/lease-record.js'
import type { AcquireCaller } from './acquire-caller.js'
import type { EngineEffect } from './engine-effect.js'
import type { OutageEffect } from './outage.js'

/** The key of the method by which a lease is notified of its grant. */
export const onGrant = Symbol('leasehold.onGrant')

/** The lease of an engine. */
export interface GrantListener {
  [onGrant](effect: GrantEffect): void
}

/** A change of the grant, reported to the lease. */
export type GrantEffect =
  | {
      readonly type: 'granted'
      readonly grant: Grant
      readonly previous: Metadata | undefined
      readonly callers: readonly AcquireCaller[]
    }
  | OutageEffect
  /** The durations that an objective chooses have changed, or whether it is kept. `isLogged`: this lease logs it. */
  | { readonly type: 'advised'; readonly advice: DurationAdvice; readonly isLogged: boolean }
  /** Code that the user supplied failed. */
  | { readonly type: 'fault'; readonly error: unknown }
  | Extract<EngineEffect, { type: 'renewed' | 'updated' | 'jeopardy' | 'recovered' | 'lost' | 'released' }>
