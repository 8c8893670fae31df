import { type Clock, type Grant, type LeaseStore, LeaseTimeoutError, type Metadata } from '@leasehold/core'
import { AbortableCall, type AcquireOutcome, type ReleaseOutcome, type StoreCall } from '@leasehold/core/store'
import type { Floor } from '../answers.js'
import { KIND, Tally, type Vote } from './tally.js'

/**
 * After a decision, how long the other servers may take to carry out the operation too, in milliseconds. A server that
 * takes longer is not waited for again until it answers.
 */
const AFTERWARDS = 2_000

/**
 * How long the other servers are waited for after a majority has answered: as long as that took, within these limits.
 * Milliseconds.
 */
const SHORTEST_GRACE = 50
const LONGEST_GRACE = 500

type Needed = 'change' | 'break' | 'renewMany' | 'update'

/** One of the independent stores whose majority decides: a `RedisLeaseStore`. */
export interface QuorumMember extends Omit<LeaseStore, Needed>, Required<Pick<LeaseStore, Needed>> {
  /** Gives the grant in force a larger fencing token, if it has a smaller one. */
  raise(grant: Grant, fencingToken: bigint, call: StoreCall): Promise<AcquireOutcome>
  /** Restores a grant of a majority on a member that has lost it, under its fencing token. */
  repair(grant: Grant, metadata: Metadata, previous: Metadata | undefined, call: StoreCall): Promise<AcquireOutcome>
  /** Releases a claim that found no majority, and restores the metadata of the last holder. */
  retract(grant: Grant, call: StoreCall): Promise<ReleaseOutcome>
  /** A member without a floor rejects with a `NoFloorError` all operations that give a token. `name` is for errors. */
  floor(name: string, call: StoreCall): Promise<Floor>
  /** Raises the floor, if it is smaller. */
  learn(name: string, floor: bigint, call: StoreCall): Promise<void>
}

/** Makes a call for each operation of a member, and aborts all of them together. */
export class CallGroup {
  readonly #timeout: number
  readonly #calls: AbortableCall[] = []
  #isAborted = false
  #reason: unknown

  constructor(timeout: number) {
    this.#timeout = timeout
  }

  get isAborted(): boolean {
    return this.#isAborted
  }

  newCall(): StoreCall {
    const call = new AbortableCall(this.#timeout)
    if (this.#isAborted) call.abort(this.#reason)
    else this.#calls.push(call)
    return call
  }

  abort(reason: unknown): void {
    this.#isAborted = true
    this.#reason = reason
    for (const call of this.#calls.splice(0)) call.abort(reason)
  }
}

/** Does background work within a time limit, in milliseconds. */
export async function within<T>(
  clock: Clock,
  timeout: number,
  work: string,
  leaseName: string,
  perform: (calls: CallGroup) => Promise<T>,
): Promise<T> {
  const calls = new CallGroup(timeout)
  const cancel = clock.schedule(timeout, () => {
    calls.abort(new LeaseTimeoutError(`${work} took longer than ${timeout} ms`, { leaseName, store: KIND }))
  })
  try {
    return await perform(calls)
  } finally {
    cancel()
  }
}

/** A question to all members, and the rule by which their votes decide it. */
export interface Ballot<T, R> {
  ask(member: QuorumMember, calls: CallGroup, place: number): Promise<T>
  /**
   * Called after each vote, and when the tally gets late. Returns `undefined` while more votes are needed; decides or throws
   * when the tally is final.
   */
  decide(tally: Tally<T>): R | undefined
  /** Called after a decision, when the last member has answered or failed. */
  afterwards?(tally: Tally<T>): void
  /** How long the other members are waited for at least after a majority has answered, in milliseconds. */
  readonly grace?: number
}

/**
 * Asks all members at once. A question is settled as soon as its votes decide it, so that slow, frozen and dead members
 * hold up nothing. The other members still have a moment to carry out the operation.
 */
export class Electorate {
  readonly members: readonly QuorumMember[]
  readonly #clock: Clock
  /** The members that do not answer; they are not waited for until they do. */
  readonly #lagging = new Set<QuorumMember>()

  constructor(members: readonly QuorumMember[], clock: Clock) {
    this.members = members
    this.#clock = clock
  }

  /** Rejects with the reason of the abort, and then aborts the operations of all members. */
  poll<T, R>(ballot: Ballot<T, R>, call: StoreCall): Promise<R> {
    if (call.aborted) return Promise.reject(call.signal.reason)
    return new Promise<R>((resolve, reject) => {
      const poll = new Poll(this.members, this.#lagging, this.#clock, ballot, call.timeout, {
        resolve: (decision) => {
          removeListener()
          resolve(decision)
        },
        reject: (error) => {
          removeListener()
          reject(error)
        },
      })
      const removeListener = call.onAbort(() => poll.giveUp(call.signal.reason))
      poll.begin()
    })
  }

  /** Rejects with the reason of the abort. */
  pause(duration: number, call: StoreCall): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const cancel = this.#clock.schedule(duration, () => {
        removeListener()
        resolve()
      })
      const removeListener = call.onAbort(() => {
        cancel()
        reject(call.signal.reason)
      })
    })
  }
}

interface Settlement<R> {
  resolve(decision: R): void
  reject(error: unknown): void
}

/** One question. It is settled as soon as it is decided, and ends when all members have answered or were given up. */
class Poll<T, R> {
  readonly #members: readonly QuorumMember[]
  readonly #lagging: Set<QuorumMember>
  readonly #clock: Clock
  readonly #ballot: Ballot<T, R>
  readonly #settlement: Settlement<R>
  readonly #tally: Tally<T>
  readonly #since: number
  readonly #calls: CallGroup
  #isSettled = false
  #cancelTimer: (() => void) | undefined

  constructor(
    members: readonly QuorumMember[],
    lagging: Set<QuorumMember>,
    clock: Clock,
    ballot: Ballot<T, R>,
    timeout: number,
    settlement: Settlement<R>,
  ) {
    this.#members = members
    this.#lagging = lagging
    this.#clock = clock
    this.#ballot = ballot
    this.#settlement = settlement
    this.#calls = new CallGroup(timeout)
    this.#tally = new Tally(members.length)
    this.#since = clock.now()
  }

  begin(): void {
    for (const [place, member] of this.#members.entries()) {
      this.#ballot.ask(member, this.#calls, place).then(
        (value) => {
          this.#lagging.delete(member)
          this.#count(place, { value })
        },
        (error: unknown) => this.#count(place, { error }),
      )
    }
  }

  giveUp(reason: unknown): void {
    this.#settle(() => this.#settlement.reject(reason))
    this.#calls.abort(reason)
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
      let decision = this.#ballot.decide(this.#tally)
      if (decision === undefined && this.#becomesLate()) decision = this.#ballot.decide(this.#tally)
      if (decision === undefined) return
      const decided = decision
      this.#settle(() => this.#settlement.resolve(decided))
    } catch (error) {
      this.#settle(() => this.#settlement.reject(error))
    }
  }

  /** Whether all members that are still to answer are lagging; if not, waits for them for the grace period. */
  #becomesLate(): boolean {
    const tally = this.#tally
    if (tally.isLate || tally.values.length < tally.majority) return false
    const isAwaited = this.#members.some((member, place) => {
      return tally.votes[place] === undefined && !this.#lagging.has(member)
    })
    if (!isAwaited) {
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

  #settle(settle: () => void): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    settle()
    if (this.#tally.isFinal || this.#calls.isAborted) return
    this.#cancelTimer = this.#clock.schedule(AFTERWARDS, () => {
      for (const [place, member] of this.#members.entries()) {
        if (this.#tally.votes[place] === undefined) this.#lagging.add(member)
      }
      this.#calls.abort(new Error('the other servers have decided'))
    })
  }
}
