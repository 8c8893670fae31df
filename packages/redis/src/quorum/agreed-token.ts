import type { AcquireOutcome, Grant } from '@leasehold/core'
import type { Electorate } from './electorate.js'
import type { Tally } from './tally.js'
import { agreedIn, tokensIn } from './tokens.js'
import { type Question, undecided } from './undecided.js'

/**
 * The fencing token of a grant that a majority has given, each server under a token of its own counter. It is the largest
 * of these tokens, and a majority has it in its records and floors before the caller learns it. Of any later majority, one
 * server at least is of this one, and gives a larger token, whatever the counters and clocks of the others say; see `Floors`
 * for servers that have lost their data.
 *
 * Where a majority has the same token already it is that, and no server is asked: a grant that is repeated keeps its token.
 * Rejects where no majority takes it over: nobody may then act under the grant.
 */
export async function agreedToken(
  electorate: Electorate,
  question: Question,
  tally: Tally<AcquireOutcome>,
  grant: Omit<Grant, 'fencingToken'>,
  signal: AbortSignal,
): Promise<bigint> {
  const tokens = tokensIn(tally)
  const agreed = agreedIn(tally, tokens)
  if (agreed !== undefined) return agreed
  const largest = tokens.reduce<bigint>((one, other) => (other !== undefined && other > one ? other : one), 0n)
  const raised = { ...grant, fencingToken: largest }
  const refused: AcquireOutcome = { granted: false }
  return await electorate.poll<AcquireOutcome, bigint>(
    {
      ask: async (member, limit, place) => {
        if (tokens[place] === largest) return { granted: true, grant: raised }
        // Who has not answered may have granted it by then, with a token of its own.
        const mayHaveIt = tokens[place] !== undefined || tally.votes[place] === undefined
        return mayHaveIt ? await member.raise(raised, largest, limit) : refused
      },
      decide: (raises) => {
        const carriers = raises.values.filter((outcome) => outcome.granted && outcome.grant.fencingToken >= largest)
        if (carriers.length >= tally.majority) return largest
        if (raises.isFinal) throw undecided(question, raises)
        return undefined
      },
    },
    signal,
  )
}
