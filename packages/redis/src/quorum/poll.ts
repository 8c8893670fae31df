import { setMaxListeners } from 'node:events'
import type { Clock } from '@leasehold/core'
import type { QuorumMember } from './quorum-member.js'
import { Tally, type Vote } from './tally.js'

/**
 * For how long servers may go on with what was decided without them, in milliseconds. Those that have not answered by then
 * are not waited for again until they do.
 */
const AFTERWARDS = 2_000

/** For how long others are waited for beyond a majority: for as long as that took, within these. Milliseconds. */
const SHORTEST_GRACE = 50
const LONGEST_GRACE = 500

/** A question to all servers, and how their votes decide it. */
export interface Ballot<T, R> {
  ask(member: QuorumMember, signal: AbortSignal, place: number): Promise<T>
  /**
   * Asked at every vote, and when the tally gets late: `undefined` while more votes are needed. Of a final tally it has to
   * decide, or to throw.
   */
  decide(tally: Tally<T>): R | undefined
  /** When all servers have answered what was decided, or were given up. */
  afterwards?(tally: Tally<T>): void
  /** For how long others are waited for at least when a majority has answered, in milliseconds. */
  readonly grace?: number
}

interface Outcome<R> {
  resolve(decision: R): void
  reject(error: unknown): void
}

/** One question: settled as soon as it is decided, and ended when all servers have answered or were given up. */
export class Poll<T, R> {
  readonly #members: readonly QuorumMember[]
  readonly #lagging: Set<QuorumMember>
  readonly #clock: Clock
  readonly #ballot: Ballot<T, R>
  readonly #outcome: Outcome<R>
  readonly #tally: Tally<T>
  readonly #since: number
  // Not the caller's: that one serves other calls as soon as this one is settled.
  readonly #given = new AbortController()
  #isSettled = false
  #cancelTimer: (() => void) | undefined

  constructor(
    members: readonly QuorumMember[],
    lagging: Set<QuorumMember>,
    clock: Clock,
    ballot: Ballot<T, R>,
    outcome: Outcome<R>,
  ) {
    this.#members = members
    this.#lagging = lagging
    this.#clock = clock
    this.#ballot = ballot
    this.#outcome = outcome
    this.#tally = new Tally(members.length)
    this.#since = clock.now()
    if (members.length > 10) setMaxListeners(members.length, this.#given.signal)
  }

  begin(): void {
    for (const [place, member] of this.#members.entries()) {
      this.#ballot.ask(member, this.#given.signal, place).then(
        (value) => {
          this.#lagging.delete(member)
          this.#count(place, { value })
        },
        (error: unknown) => this.#count(place, { error }),
      )
    }
  }

  giveUp(reason: unknown): void {
    this.#settle(() => this.#outcome.reject(reason))
    this.#given.abort(reason)
  }

  #count(place: number, vote: Vote<T>): void {
    this.#tally.votes[place] = vote
    if (!this.#isSettled) this.#decide()
    if (this.#tally.isFinal) this.#end()
  }

  #decide(): void {
    try {
      let decision = this.#ballot.decide(this.#tally)
      if (decision === undefined && this.#getsLate()) decision = this.#ballot.decide(this.#tally)
      if (decision === undefined) return
      const decided = decision
      this.#settle(() => this.#outcome.resolve(decided))
    } catch (error) {
      this.#settle(() => this.#outcome.reject(error))
    }
  }

  /** Whether nobody is worth to be waited for any longer; if somebody is, for a time. */
  #getsLate(): boolean {
    const tally = this.#tally
    if (tally.isLate || tally.values.length < tally.majority) return false
    const awaited = this.#members.filter((member, place) => {
      return tally.votes[place] === undefined && !this.#lagging.has(member)
    })
    if (awaited.length === 0) {
      tally.isLate = true
      return true
    }
    if (this.#cancelTimer !== undefined) return false
    const elapsed = this.#clock.now() - this.#since
    const least = this.#ballot.grace ?? SHORTEST_GRACE
    this.#cancelTimer = this.#clock.schedule(Math.max(Math.min(elapsed, LONGEST_GRACE), least), () => {
      tally.isLate = true
      this.#decide()
    })
    return false
  }

  #settle(tell: () => void): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    tell()
    if (this.#tally.isFinal || this.#given.signal.aborted) return
    this.#cancelTimer = this.#clock.schedule(AFTERWARDS, () => {
      for (const [place, member] of this.#members.entries()) {
        if (this.#tally.votes[place] === undefined) this.#lagging.add(member)
      }
      this.#given.abort(new Error('it was decided without it'))
    })
  }

  #end(): void {
    this.#cancelTimer?.()
    this.#ballot.afterwards?.(this.#tally)
  }
}
