import type { AcquireOutcome, LeaseRecord } from '@leasehold/core'
import { majorityHolder } from './agreement.js'
import type { Tally } from './tally.js'
import { agreedIn, tokensIn } from './tokens.js'
import { isDefinitive, type Question, undecided } from './undecided.js'

/** What the votes on a request for a grant come to. */
export type GrantVerdict =
  | { readonly type: 'granted' }
  /** Certainly not granted; `holder` where somebody has a majority. */
  | { readonly type: 'refused'; readonly holder?: LeaseRecord }
  /**
   * Nobody is known to have a majority, but this request has something, and so have the given rivals. `isCertain`: this
   * request has certainly no majority.
   */
  | { readonly type: 'split'; readonly rivals: readonly string[]; readonly isCertain: boolean }
  | { readonly type: 'failed'; readonly error: unknown }

/** `undefined` while more votes may tell more. */
export function grantVerdict(question: Question, tally: Tally<AcquireOutcome>): GrantVerdict | undefined {
  const { values, errors, majority } = tally
  const waits = !tally.isFinal && !tally.isLate
  const granted = values.filter((outcome) => outcome.granted).length
  if (granted >= majority) {
    // A server that is still to answer may have the largest token, or be one of those that have agreed on theirs.
    return waits && agreedIn(tally, tokensIn(tally)) === undefined ? undefined : { type: 'granted' }
  }
  const holders = values.flatMap((outcome) => (outcome.granted ? [] : [outcome.holder]))
  const holder = majorityHolder(
    holders.filter((record) => record !== undefined),
    majority,
  )
  if (holder !== undefined) return { type: 'refused', holder }
  if (waits) return undefined
  if (errors.filter(isDefinitive).length >= majority) return { type: 'failed', error: undecided(question, tally) }
  const isCertain = holders.length + errors.filter(isDefinitive).length >= majority
  if (granted > 0 && holders.length > 0) {
    return { type: 'split', rivals: holders.map((record) => record?.grantId ?? ''), isCertain }
  }
  if (isCertain) return { type: 'refused' }
  return tally.isFinal ? { type: 'failed', error: undecided(question, tally) } : undefined
}
