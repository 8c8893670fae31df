import type { ReleaseOutcome } from '@leasehold/core'
import { majorityHolder } from './agreement.js'
import type { Tally } from './tally.js'
import { type Question, undecided } from './undecided.js'

/**
 * Of a server that has answered, the grant is certainly gone: freed now, or it was not there. Where it is gone from a
 * majority, the others are too few for it, whatever they have. Released where at least one server was freed by this, as
 * a store of one server says; repeated, it is not, but nobody else is named: the claim is gone.
 */
export function releaseVerdict(question: Question, tally: Tally<ReleaseOutcome>): ReleaseOutcome | undefined {
  const { values, majority } = tally
  const released = values.filter((outcome) => outcome.released).length
  if (released >= majority) return { released: true }
  const holder = majorityHolder(
    values.flatMap((outcome) => (outcome.released ? [] : (outcome.holder ?? []))),
    majority,
  )
  if (holder !== undefined) return { released: false, holder }
  if (!tally.isFinal && !tally.isLate) return undefined
  if (values.length < majority) throw undecided(question, tally)
  return released > 0 ? { released: true } : { released: false }
}
