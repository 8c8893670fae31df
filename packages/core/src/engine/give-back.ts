import type { Clock } from '../clock.js'
import type { Grant } from '../store/lease-record.js'
import type { LeaseStore, ReleaseOutcome } from '../store/lease-store.js'
import type { LeaseRules } from './lease-rules.js'
import { callWithin } from './timed-call.js'

/** A request whose outcome is unknown may still arrive after a look at the record: so it is looked at again. */
const LOOKS = 2

/** For how long a grant that never expires is tried to be given back, in milliseconds. */
const LONGEST = 600_000

interface Leftover {
  readonly grantId: string
  /** Unknown where the answer was lost: whether there is a grant has to be read. */
  readonly grant: Grant | undefined
  /** After this it has expired by itself, or is left to an operator. */
  readonly until: number
  looks: number
  tries: number
  trying: Promise<void> | undefined
  cancel: (() => void) | undefined
}

/**
 * Takes back, in the background, what the store may still hold for us and nobody here wants any more. Everything it
 * does is conditional on the grant id, so that it can free nobody else's grant; what expires by itself is then left.
 */
export class GiveBack {
  readonly #rules: LeaseRules
  readonly #store: LeaseStore
  readonly #clock: Clock
  readonly #leftovers = new Map<string, Leftover>()

  constructor(rules: LeaseRules, store: LeaseStore, clock: Clock) {
    this.#rules = rules
    this.#store = store
    this.#clock = clock
  }

  get isEmpty(): boolean {
    return this.#leftovers.size === 0
  }

  has(grantId: string | undefined): boolean {
    return grantId !== undefined && this.#leftovers.has(grantId)
  }

  /** Takes back a grant, or whatever a request of unknown outcome may have brought about under its id. */
  add(grantId: string, grant: Grant | undefined): void {
    this.#forget(this.#leftovers.get(grantId))
    const until = this.#clock.now() + Math.min(this.#rules.ttl, LONGEST)
    const leftover: Leftover = { grantId, grant, until, looks: LOOKS, tries: 0, trying: undefined, cancel: undefined }
    this.#leftovers.set(grantId, leftover)
    // In a microtask: who is told of a loss gets to stop before the name is freed.
    queueMicrotask(() => this.#tryAgain(leftover))
  }

  /** Tries, once and now, to give back all that is left. Rejects where the store did not answer. */
  async settle(): Promise<void> {
    await Promise.all([...this.#leftovers.values()].map((leftover) => this.#try(leftover)))
  }

  #tryAgain(leftover: Leftover): void {
    // A store that does not answer is asked again later; there is nobody to tell.
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
    const grant = leftover.grant ?? (await this.#findLocked())
    if (grant?.grantId === grantId) {
      await this.#release(grant)
      return this.#forget(leftover)
    }
    // Locked, but the store cannot tell by whom: it may be by our request, before its record was written.
    if (grant?.grantId === '' && (await this.#release({ ...grant, owner: this.#rules.owner, grantId })).released) {
      return this.#forget(leftover)
    }
    leftover.looks -= 1
    if (leftover.looks === 0) this.#forget(leftover)
  }

  /** Who has the name locked. */
  async #findLocked(): Promise<Grant | undefined> {
    const { name } = this.#rules
    const record = await callWithin(this.#rules, this.#clock, 'read', (signal) => this.#store.read(name, signal))
    return record?.state === 'leased' || record?.state === 'breaking' ? record : undefined
  }

  async #release(grant: Grant): Promise<ReleaseOutcome> {
    return await callWithin(this.#rules, this.#clock, 'release', (signal) => this.#store.release(grant, signal))
  }

  #scheduleNext(leftover: Leftover): void {
    if (this.#leftovers.get(leftover.grantId) !== leftover) return
    const left = leftover.until - this.#clock.now()
    // A closed store answers nothing any more; a release by the user still learns that it could not be done.
    if (this.#store.closed?.aborted === true && left > 0) return
    if (left <= 0) {
      this.#forget(leftover)
      return
    }
    // Whoever claims or releases meanwhile tries as well: the last try by itself is no later than it is of use.
    const pause = Math.min(this.#rules.operationTimeout * 2 ** Math.min(leftover.tries, 8), LONGEST / 10, left)
    leftover.tries += 1
    leftover.cancel = this.#clock.schedule(pause, () => this.#tryAgain(leftover))
  }

  #forget(leftover: Leftover | undefined): void {
    if (leftover === undefined) return
    leftover.cancel?.()
    if (this.#leftovers.get(leftover.grantId) === leftover) this.#leftovers.delete(leftover.grantId)
  }
}
