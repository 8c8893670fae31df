import type { LeaseRecord } from '@leasehold/core'
import { isDefinitive } from '@leasehold/core/internal'
import type { AcquireOutcome, AcquireRequest, StoreCall } from '@leasehold/core/store'
import { backoff, pause } from '@leasehold/core/store-kit'
import type { Electorate } from './electorate.js'
import type { FencingTokens } from './fencing-tokens.js'
import { type GrantOutcome, grantOutcome } from './outcomes.js'
import { type Question, type Tally, undecided } from './tally.js'

/** How often one of several rivals asks for the remaining servers. */
const ROUNDS = 8

/** The pauses in between, in milliseconds. The first is about as long as the servers took, so that the rivals give way. */
const SHORTEST_PAUSE = 2
const LONGEST_PAUSE = 200

/** A decision on a request, and the votes on which it is based. */
export interface Round {
  readonly tally: Tally<AcquireOutcome>
  readonly outcome: GrantOutcome
}

/**
 * One attempt to be granted a lease by a majority (Redis: "Distributed Locks with Redis"; the algorithm is called Redlock).
 *
 * The engine counts the holder's validity from before the attempt, and the ttl of each server starts later: the time of the
 * rounds need not be subtracted.
 *
 * If each of several rivals is granted some servers and none a majority, the rival with the smallest grant id keeps its
 * servers and asks for the others after a pause. The others give way.
 */
export class Acquisition {
  readonly #electorate: Electorate
  readonly #tokens: FencingTokens
  readonly #request: AcquireRequest
  readonly #question: Question
  #isAbandoned = false
  #tally: Tally<AcquireOutcome> | undefined

  constructor(electorate: Electorate, tokens: FencingTokens, request: AcquireRequest) {
    this.#electorate = electorate
    this.#tokens = tokens
    this.#request = request
    this.#question = { operation: 'acquire', leaseName: request.name }
  }

  /** Rejects if the outcome is unknown. */
  async run(call: StoreCall): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl } = this.#request
    for (let round = 1; ; round += 1) {
      const since = this.#electorate.clock.now()
      const { tally, outcome } = await this.#ask(call)
      if (outcome.type === 'granted') {
        const grant = { name, owner, grantId, ttl }
        return await this.#tokens.confirm(this.#question, tally, grant, call)
      }
      if (outcome.type === 'refused') return refusedBy(outcome.holder)
      if (outcome.rivals.some((rival) => rival < grantId)) return refusedBy(undefined)
      if (round === ROUNDS) {
        if (outcome.isCertain) return refusedBy(undefined)
        throw undecided(this.#question, tally)
      }
      const { clock, random } = this.#electorate
      const elapsed = clock.now() - since
      const longest = Math.min(Math.max(elapsed, SHORTEST_PAUSE) * 1.5 ** (round - 1), LONGEST_PAUSE)
      await pause(clock, backoff(0, longest, longest, random), call)
    }
  }

  /** Sends no claim from now on. Returns the places of the servers that it may have locked. */
  abandon(): readonly number[] {
    this.#isAbandoned = true
    return [...this.#electorate.members.keys()].filter((place) => {
      const vote = this.#tally?.votes[place]
      if (vote === undefined) return true
      return 'error' in vote ? !isDefinitive(vote.error) : vote.value.granted
    })
  }

  #ask(call: StoreCall): Promise<Round> {
    const { queue: _, ...request } = this.#request
    this.#tally = undefined
    return this.#electorate.poll<AcquireOutcome, Round>(call, {
      ask: (member, whole, place) => {
        return this.#tokens.ask(place, request.name, whole, async (own) => {
          // The server may first have had to learn a floor. Meanwhile, the attempt may have been taken back.
          return this.#isAbandoned ? { granted: false } : await member.acquire(request, own)
        })
      },
      decide: (tally) => {
        this.#tally = tally
        const outcome = grantOutcome(this.#question, tally)
        return outcome && { tally, outcome }
      },
    })
  }
}

export function refusedBy(holder: LeaseRecord | undefined): AcquireOutcome {
  return holder === undefined ? { granted: false } : { granted: false, holder }
}
