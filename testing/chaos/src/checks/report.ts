import type { Operation } from '../history/operation.js'

/** The rules that a history is checked by. */
export const checks = {
  exclusion: 'two grants of one name were valid at the same instant',
  'token-order': 'a later grant whose fencing token is not larger, or a token that was given twice',
  'late-hold': 'a grant was held again after it had been released, handed over or lost',
  register: 'no order of the calls explains the outcomes of the guarded register',
  'lost-write': 'an acknowledged write of the guarded register was lost',
  gap: 'a name had no holder for too long after the last fault',
} as const

export type CheckName = keyof typeof checks

export interface Violation {
  readonly check: CheckName
  readonly name: string
  /** When it is certain that the rule is broken. */
  readonly at: number
  readonly message: string
  /** The operations that show it, in the order of `from`. */
  readonly operations: readonly Operation[]
}

export interface Figures {
  /** By call and outcome, such as `write accepted`. */
  readonly operations: Readonly<Record<string, number>>
  readonly grants: number
  readonly handOvers: number
  readonly losses: Readonly<Record<string, number>>
  /**
   * The longest time for which no grant of a name is known to be valid: an upper limit of the time without a holder, since it
   * is not known for how long a process that was killed held its grant.
   */
  readonly longestGap: Gap | undefined
  /** The longest time in milliseconds for which two grants of a name were valid. 0 in a good history. */
  readonly longestOverlap: number
  /**
   * Acknowledged writes that were replaced by a write whose holder had read before. A guard that sees only the tokens of writes
   * permits that: a former holder can write until the next one has written.
   */
  readonly overwrittenUnseen: number
}

export interface Gap {
  readonly name: string
  readonly from: number
  readonly to: number
}

export interface Report {
  /** In the order of time. Empty if the history is good. */
  readonly violations: readonly Violation[]
  readonly figures: Figures
}

export interface CheckOptions {
  /** The longest time in milliseconds from the end of the last fault until each name that is wanted has a holder. */
  readonly longestRecovery: number
}
