import type { AcquireOutcome } from '@leasehold/core'
import type { Tally } from './tally.js'

/** By the place of the server, the fencing token under which it has granted the request. */
export function tokensIn(tally: Tally<AcquireOutcome>): (bigint | undefined)[] {
  return tally.votes.map((vote) => {
    return vote !== undefined && 'value' in vote && vote.value.granted ? vote.value.grant.fencingToken : undefined
  })
}

/** The token that a majority has given alike, if there is one. */
export function agreedIn(
  { majority }: Tally<AcquireOutcome>,
  tokens: readonly (bigint | undefined)[],
): bigint | undefined {
  return tokens.find((token) => {
    return token !== undefined && tokens.filter((other) => other === token).length >= majority
  })
}
