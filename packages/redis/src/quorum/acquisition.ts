import type { AcquireOutcome, AcquireRequest, Clock, LeaseRecord } from '@leasehold/core'
import { agreedToken } from './agreed-token.js'
import type { Electorate } from './electorate.js'
import type { Floors } from './floors.js'
import { type GrantVerdict, grantVerdict } from './grant-verdict.js'
import type { QuorumMember } from './quorum-member.js'
import type { Tally } from './tally.js'
import { isDefinitive, type Question, undecided } from './undecided.js'

/** How often who comes first among those who have split the servers asks for the rest of them. */
const ROUNDS = 8

/** The pauses in between: the first is about as long as the servers took, for the others to give way. Milliseconds. */
const SHORTEST_PAUSE = 2
const LONGEST_PAUSE = 200

interface Round {
  readonly tally: Tally<AcquireOutcome>
  readonly verdict: GrantVerdict
}

/**
 * One attempt to be granted a lease by a majority (Redis: "Distributed Locks with Redis"; the algorithm is called Redlock).
 *
 * The holder's validity is counted from before the attempt was begun, and each server's ttl starts later than that: so no
 * time that it takes, nor rounds nor slow servers, has to be taken off the ttl beside what the engine takes off for drift.
 *
 * Of those who ask at once each may be granted some servers, and nobody a majority. Then who has the smallest of the
 * grant ids it sees keeps what it has, and asks for the rest in a moment; the others give way.
 */
export class Acquisition {
  readonly #electorate: Electorate
  readonly #floors: Floors
  readonly #clock: Clock
  readonly #request: AcquireRequest
  readonly #question: Question
  #isAsked = false
  #isAbandoned = false
  #tally: Tally<AcquireOutcome> | undefined

  /** The request bears the id of the attempt. */
  constructor(electorate: Electorate, floors: Floors, clock: Clock, request: AcquireRequest) {
    this.#electorate = electorate
    this.#floors = floors
    this.#clock = clock
    this.#request = request
    this.#question = { operation: 'acquire', leaseName: request.name }
  }

  /** Rejects where the outcome is unknown. */
  async run(signal: AbortSignal): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl } = this.#request
    for (let round = 1; ; round += 1) {
      const since = this.#clock.now()
      const { tally, verdict } = await this.#ask(signal)
      if (verdict.type === 'granted') {
        const grant = { name, owner, grantId, ttl }
        const fencingToken = await agreedToken(this.#electorate, this.#question, tally, grant, signal)
        this.#floors.note(fencingToken)
        return { granted: true, grant: { ...grant, fencingToken } }
      }
      if (verdict.type === 'failed') throw verdict.error
      if (verdict.type === 'refused') return refusedBy(verdict.holder)
      if (verdict.rivals.some((rival) => rival < grantId)) return refusedBy(undefined)
      if (round === ROUNDS) {
        if (verdict.isCertain) return refusedBy(undefined)
        throw undecided(this.#question, tally)
      }
      await this.#pause(round, this.#clock.now() - since, signal)
    }
  }

  /** Sends no claim from now on. The places of the servers that it may have locked. */
  abandon(): ReadonlySet<number> {
    this.#isAbandoned = true
    const places = new Set<number>()
    if (!this.#isAsked) return places
    for (const place of this.#electorate.members.keys()) {
      const vote = this.#tally?.votes[place]
      const isFree = vote !== undefined && ('error' in vote ? isDefinitive(vote.error) : !vote.value.granted)
      if (!isFree) places.add(place)
    }
    return places
  }

  #ask(signal: AbortSignal): Promise<Round> {
    const { name, owner, grantId, ttl, metadata } = this.#request
    const request = metadata === undefined ? { name, owner, grantId, ttl } : { name, owner, grantId, ttl, metadata }
    this.#tally = undefined
    return this.#electorate.poll<AcquireOutcome, Round>(
      {
        ask: (member, limit, place) => {
          this.#isAsked = true
          return this.#floors.ask(place, name, () => this.#claim(member, request, limit))
        },
        decide: (tally) => {
          this.#tally = tally
          const verdict = grantVerdict(this.#question, tally)
          return verdict === undefined ? undefined : { tally, verdict }
        },
      },
      signal,
    )
  }

  /** A server that had to learn a floor first is asked late: not after the attempt has been taken back. */
  async #claim(member: QuorumMember, request: AcquireRequest, limit: AbortSignal): Promise<AcquireOutcome> {
    return this.#isAbandoned ? { granted: false } : await member.acquire(request, limit)
  }

  async #pause(round: number, elapsed: number, signal: AbortSignal): Promise<void> {
    const longest = Math.min(Math.max(elapsed, SHORTEST_PAUSE) * 1.5 ** (round - 1), LONGEST_PAUSE)
    await this.#electorate.pause(longest * (0.5 + 0.5 * Math.random()), signal)
  }
}

function refusedBy(holder: LeaseRecord | undefined): AcquireOutcome {
  return holder === undefined ? { granted: false } : { granted: false, holder }
}
