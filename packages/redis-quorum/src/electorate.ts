import { type Clock, LeaseTimeoutError } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import type { RedisMember } from '@leasehold/redis/internal'
import { KIND, Tally, type Vote } from './tally.js'

/** How long the other servers may take after a decision, in milliseconds. Then nothing waits for them until they answer. */
const AFTERWARDS = 2_000

/** After a majority has answered, the other servers have as long as that took, within these limits. Milliseconds. */
const SHORTEST_GRACE = 50
const LONGEST_GRACE = 500

/** One of the independent servers whose majority decides. */
export type QuorumMember = Pick<
  RedisMember,
  | 'acquire'
  | 'renew'
  | 'renewMany'
  | 'update'
  | 'release'
  | 'read'
  | 'change'
  | 'break'
  | 'agree'
  | 'raiseToken'
  | 'repair'
  | 'retract'
  | 'floor'
  | 'learn'
  | 'probe'
  | 'close'
>

/** A call for one operation of a member. It is aborted together with the call that it is a part of. */
export function partOf(whole: StoreCall): StoreCall {
  const part = new AbortableCall(whole.timeout)
  whole.onAbort(() => part.abort(whole.signal.reason))
  return part
}

/** A question to all members, and the rule by which their votes decide it. */
export interface Ballot<T, R> {
  ask(member: QuorumMember, call: StoreCall, place: number): Promise<T>
  /**
   * Called after each vote, and when the tally gets late. Returns `undefined` while more votes are needed; decides or throws
   * when the tally is final.
   */
  decide(tally: Tally<T>): R | undefined
  /** Called after a decision, when the last member has answered or failed. */
  afterwards?(tally: Tally<T>): void
  /** The shortest time to wait for the other members after a majority has answered, in milliseconds. */
  readonly grace?: number
}

/**
 * Asks all members at once. A question is settled as soon as its votes decide it, so that slow, frozen and dead members hold
 * up nothing. They still get the operation.
 */
export class Electorate {
  readonly members: readonly QuorumMember[]
  readonly clock: Clock
  readonly random: () => number
  /** The members that do not answer. Nothing waits for them until they do. */
  readonly lagging = new Set<QuorumMember>()

  constructor(members: readonly QuorumMember[], clock: Clock, random: () => number) {
    this.members = members
    this.clock = clock
    this.random = random
  }

  /** Rejects with the reason of the abort, and then aborts the operations of all members. */
  poll<T, R>(call: StoreCall, ballot: Ballot<T, R>): Promise<R> {
    if (call.aborted) return Promise.reject(call.signal.reason)
    let removeListener = (): void => {}
    return new Promise<R>((resolve, reject) => {
      const poll = new Poll(this, ballot, call.timeout, resolve, reject)
      removeListener = call.onAbort(() => poll.giveUp(call.signal.reason))
      poll.begin()
    }).finally(() => removeListener())
  }

  /** Does background work within a time limit, in milliseconds. */
  async within(limit: number, work: string, leaseName: string, perform: (call: StoreCall) => Promise<void>) {
    const call = new AbortableCall(limit)
    const cancel = this.clock.schedule(limit, () => {
      call.abort(new LeaseTimeoutError(`${work} took longer than ${limit} ms`, { leaseName, store: KIND }))
    })
    await perform(call).finally(cancel)
  }
}

/** One question. It is settled as soon as it is decided, and ends when all members have answered or were given up. */
class Poll<T, R> {
  readonly #electorate: Electorate
  readonly #ballot: Ballot<T, R>
  readonly #resolve: (decision: R) => void
  readonly #reject: (error: unknown) => void
  readonly #tally: Tally<T>
  readonly #since: number
  readonly #call: AbortableCall
  #isSettled = false
  #cancelTimer: (() => void) | undefined

  constructor(
    electorate: Electorate,
    ballot: Ballot<T, R>,
    timeout: number,
    resolve: (decision: R) => void,
    reject: (error: unknown) => void,
  ) {
    this.#electorate = electorate
    this.#ballot = ballot
    this.#resolve = resolve
    this.#reject = reject
    this.#tally = new Tally<T>(electorate.members.map(() => undefined))
    this.#since = electorate.clock.now()
    this.#call = new AbortableCall(timeout)
  }

  begin(): void {
    const { members, lagging } = this.#electorate
    for (const [place, member] of members.entries()) {
      this.#ballot.ask(member, partOf(this.#call), place).then(
        (value) => {
          lagging.delete(member)
          this.#count(place, { value })
        },
        (error: unknown) => this.#count(place, { error }),
      )
    }
  }

  giveUp(reason: unknown): void {
    this.#settle(() => this.#reject(reason))
    this.#call.abort(reason)
  }

  #count(place: number, vote: Vote<T>): void {
    this.#tally.votes[place] = vote
    if (!this.#isSettled) this.#decide()
    if (!this.#tally.isFinal) return
    this.#cancelTimer?.()
    this.#ballot.afterwards?.(this.#tally)
  }

  #decide(): void {
    try {
      const decision =
        this.#ballot.decide(this.#tally) ?? (this.#becomesLate() ? this.#ballot.decide(this.#tally) : undefined)
      if (decision !== undefined) this.#settle(() => this.#resolve(decision))
    } catch (error) {
      this.#settle(() => this.#reject(error))
    }
  }

  /** Whether all members that are still to answer are lagging; if not, waits for them for the grace period. */
  #becomesLate(): boolean {
    const tally = this.#tally
    if (tally.isLate || tally.values.length < tally.majority) return false
    tally.isLate = this.#unanswered().every((member) => this.#electorate.lagging.has(member))
    if (tally.isLate || this.#cancelTimer !== undefined) return tally.isLate
    const { clock } = this.#electorate
    const grace = Math.max(Math.min(clock.now() - this.#since, LONGEST_GRACE), this.#ballot.grace ?? SHORTEST_GRACE)
    this.#cancelTimer = clock.schedule(grace, () => {
      tally.isLate = true
      this.#decide()
    })
    return false
  }

  #unanswered(): readonly QuorumMember[] {
    return this.#electorate.members.filter((_, place) => this.#tally.votes[place] === undefined)
  }

  #settle(settle: () => void): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    settle()
    if (this.#tally.isFinal || this.#call.aborted) return
    this.#cancelTimer = this.#electorate.clock.schedule(AFTERWARDS, () => {
      for (const member of this.#unanswered()) this.#electorate.lagging.add(member)
      this.#call.abort(new Error('the other servers have decided'))
    })
  }
}
