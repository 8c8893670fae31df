import { type Grant, isLocked, type LeaseRecord } from '../store/lease-record.js'
import type { LeaseStore, ReleaseOutcome } from '../store/lease-store.js'
import type { Clock } from '../time/clock.js'
import type { LeaseRules } from './lease-rules.js'
import { callWithin } from './timed-call.js'

/** How many reads have to miss the grant: a request of unknown outcome may still reach the store after the first. */
const LOOKS = 2

/** For how long to try to give back a grant that never expires, in milliseconds. */
const LONGEST = 600_000

/** For how long a request that was given up may still reach the store, in milliseconds. */
const LONGEST_ON_THE_WAY = 600_000

/** How many grant ids are remembered for such requests. */
const MOST_STRAYS = 8

interface Leftover {
  readonly grantId: string
  /** Absent where the answer was lost: a read has to show whether there is a grant. */
  grant: Grant | undefined
  /** Whether a request under the grant id may still reach the store, after the grant was given back. */
  readonly hasStray: boolean
  /** The work that has to end before the grant is given back. */
  work: Promise<void> | undefined
  /** When it is forgotten: the grant has expired by itself, or is left to an operator. */
  readonly until: number
  looks: number
  tries: number
  trying: Promise<void> | undefined
  cancel: (() => void) | undefined
}

/**
 * Takes back, in the background, grants that the store may still have for this lease and that nothing here wants any more.
 * Every call is conditional on the grant id, so that it never frees the grant of another.
 *
 * A request that was given up can reach the store even after its repetition was granted and released. It then locks the
 * name under our own grant id. So the ids of such requests (strays) are remembered. A claim that is refused by the grant of
 * a stray takes that grant back, and so does a release.
 */
export class GrantCleanup {
  readonly #rules: LeaseRules
  readonly #store: LeaseStore
  readonly #clock: Clock
  readonly #leftovers = new Map<string, Leftover>()
  /** Until when the request of a grant id may still reach the store. */
  readonly #strays = new Map<string, number>()

  constructor(rules: LeaseRules, store: LeaseStore, clock: Clock) {
    this.#rules = rules
    this.#store = store
    this.#clock = clock
  }

  /** Whether nothing is being given back. */
  get isEmpty(): boolean {
    return this.#leftovers.size === 0
  }

  has(grantId: string | undefined): boolean {
    return grantId !== undefined && this.#leftovers.has(grantId)
  }

  /**
   * Frees a grant, or one that a request of unknown outcome may have produced under this id. Waits first for `work`, which
   * must never reject.
   */
  add(grantId: string, grant: Grant | undefined, hasStray: boolean, work?: Promise<void>): void {
    // In a microtask, so that code that is notified of a loss can stop before the name is freed.
    const leftover = this.#keep(grantId, grant, hasStray)
    leftover.work = work
    if (hasStray) this.#remember(grantId)
    queueMicrotask(() => this.#tryAgain(leftover))
  }

  /** Begins to take back the grant of a holder, if it comes from a request of ours that was late. Says whether it does. */
  reclaim(holder: LeaseRecord): boolean {
    const isUnknown = holder.grantId === ''
    const strays = this.#straysOnTheWay().filter((grantId) => isUnknown || grantId === holder.grantId)
    for (const grantId of strays) this.#keep(grantId, isUnknown ? undefined : this.#grantOf(holder), true)
    return strays.length > 0
  }

  /** Tries, once and now, to give back all that is left. Rejects if the store does not answer. */
  async settle(): Promise<void> {
    await Promise.all([...this.#leftovers.values()].map((leftover) => this.#try(leftover)))
  }

  /** Like `settle`, but also gives back what late requests may have produced. */
  async settleWithStrays(): Promise<void> {
    for (const grantId of this.#straysOnTheWay()) {
      if (!this.#leftovers.has(grantId)) this.#keep(grantId, undefined, true).looks = 1
    }
    await this.settle()
  }

  #keep(grantId: string, grant: Grant | undefined, hasStray: boolean): Leftover {
    const known = this.#leftovers.get(grantId)
    if (known !== undefined) this.#forget(known)
    const until = this.#clock.now() + Math.min(this.#rules.ttl, LONGEST)
    const begin = { looks: LOOKS, tries: 0, trying: undefined, cancel: undefined, work: undefined }
    const leftover: Leftover = { grantId, grant, hasStray, until, ...begin }
    this.#leftovers.set(grantId, leftover)
    return leftover
  }

  #remember(grantId: string): void {
    this.#strays.delete(grantId)
    this.#strays.set(grantId, this.#clock.now() + LONGEST_ON_THE_WAY)
    const [oldest] = this.#strays.keys()
    if (this.#strays.size > MOST_STRAYS && oldest !== undefined) this.#strays.delete(oldest)
  }

  #straysOnTheWay(): string[] {
    const now = this.#clock.now()
    for (const [grantId, until] of this.#strays) if (now >= until) this.#strays.delete(grantId)
    return [...this.#strays.keys()]
  }

  #tryAgain(leftover: Leftover): void {
    // A store that does not answer is asked again later; nothing waits for the answer.
    this.#try(leftover).catch(() => {})
  }

  #try(leftover: Leftover): Promise<void> {
    leftover.cancel?.()
    leftover.cancel = undefined
    leftover.trying ??= this.#giveBack(leftover).finally(() => {
      leftover.trying = undefined
      this.#scheduleNext(leftover)
    })
    return leftover.trying
  }

  async #giveBack(leftover: Leftover): Promise<void> {
    const { grantId } = leftover
    if (leftover.work !== undefined) await leftover.work
    const grant = leftover.grant ?? (await this.#findLocked())
    if (grant?.grantId === grantId) {
      await this.#release(grant)
      return this.#lookOrForget(leftover)
    }
    // Locked, but the holder is not recorded: it may be our own request, before its record was written.
    if (grant?.grantId === '' && (await this.#release({ ...grant, owner: this.#rules.owner, grantId })).released) {
      return this.#forget(leftover)
    }
    leftover.looks -= 1
    if (leftover.looks === 0) this.#forget(leftover)
  }

  /** The grant is gone. If a request of the same id may still arrive, the record will be looked at again. */
  #lookOrForget(leftover: Leftover): void {
    if (leftover.grant !== undefined && leftover.hasStray) leftover.grant = undefined
    else this.#forget(leftover)
  }

  /** The record of the name, if it is locked. */
  async #findLocked(): Promise<Grant | undefined> {
    const { name } = this.#rules
    const record = await callWithin(this.#rules, this.#clock, 'read', (call) => this.#store.read(name, call))
    return isLocked(record) ? this.#grantOf(record) : undefined
  }

  #grantOf(record: LeaseRecord): Grant {
    return { ...record, ttl: record.ttl ?? this.#rules.ttl }
  }

  async #release(grant: Grant): Promise<ReleaseOutcome> {
    return await callWithin(this.#rules, this.#clock, 'release', (call) => this.#store.release(grant, call))
  }

  #scheduleNext(leftover: Leftover): void {
    if (this.#leftovers.get(leftover.grantId) !== leftover) return
    const left = leftover.until - this.#clock.now()
    // A closed store is not asked again. The leftover stays, so that a release by the user learns that it is not freed.
    if (this.#store.closed?.aborted === true && left > 0) return
    if (left <= 0) {
      this.#forget(leftover)
      return
    }
    // A claim or a release also tries meanwhile. The last scheduled try comes no later than `until`.
    const pause = Math.min(this.#rules.operationTimeout * 2 ** Math.min(leftover.tries, 8), LONGEST / 10, left)
    leftover.tries += 1
    leftover.cancel = this.#clock.schedule(pause, () => this.#tryAgain(leftover))
  }

  #forget(leftover: Leftover): void {
    leftover.cancel?.()
    if (this.#leftovers.get(leftover.grantId) === leftover) this.#leftovers.delete(leftover.grantId)
  }
}
