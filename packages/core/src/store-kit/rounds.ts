import type { LeaseErrorDetails } from '../errors/lease-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'

/**
 * Repeats an operation while `round` resolves with `undefined`, because another writer was faster. Rejects with a
 * `LeaseUnavailableError` after the last round. `subject`: the name of the object that is written, for the message.
 * `isFirst`: whether it is the first round.
 */
export async function inRounds<T>(
  subject: string,
  details: LeaseErrorDetails,
  round: (isFirst: boolean) => Promise<T | undefined>,
  rounds = 5,
): Promise<T> {
  for (let count = 0; count < rounds; count += 1) {
    const outcome = await round(count === 0)
    if (outcome !== undefined) return outcome
  }
  throw new LeaseUnavailableError(`'${subject}' was written by others ${rounds} times in a row: try again`, details)
}
