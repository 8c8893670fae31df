import { guardDeletionLaws } from './guard/deletion.js'
import { guardErrorLaws } from './guard/errors.js'
import { guardRaceLaws } from './guard/races.js'
import { guardRejectionLaws } from './guard/rejection.js'
import { guardTokenLaws } from './guard/tokens.js'
import type { GuardSubject } from './guard-subject.js'
import { type GuardLaw, GuardTrial } from './guard-trial.js'
import { checkIn, type LawOutcome } from './law.js'

/** The conformance suite of fencing guards: they reject every write under a token that is not the largest one seen. */
export const guardLaws: readonly GuardLaw[] = [
  ...guardRejectionLaws,
  ...guardDeletionLaws,
  ...guardRaceLaws,
  ...guardTokenLaws,
  ...guardErrorLaws,
]

/** Checks one law over a resource of its own. Rejects where it is broken. */
export async function checkGuardLaw(law: GuardLaw, subject: GuardSubject): Promise<LawOutcome> {
  return await checkIn(await GuardTrial.begin(subject), law)
}
