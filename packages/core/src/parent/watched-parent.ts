import { detailsOf } from '../engine/failures.js'
import { type LeaseRules, rulesOf } from '../engine/lease-rules.js'
import { retryPause } from '../engine/pauses.js'
import { traitsOf } from '../engine/store-traits.js'
import { callWithin } from '../engine/timed-call.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { checkLeaseName, checkOwner } from '../store/lease-name.js'
import type { LeaseRecord } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { validityOf } from '../time/validity.js'
import { graceOf } from './child-grace.js'
import { asParent, type Child, type ChildSeat, type Parent, type ParentGrant, type ParentView } from './parent.js'

/**
 * By how much a user of a store that has no clock of its own, such as a folder, may see more time left than another
 * user, in milliseconds.
 */
const SHARED_CLOCK_DIFFERENCE = 40

/** The advice in errors of a store that cannot time a parent. */
const REMEDY =
  'Keep the parent in a store that tells the time left by a clock of its own, such as Redis or the local store, or hold ' +
  'parent and child in the same process'

/**
 * The lease of another process as a parent: children are held while its owner holds it, as far as the store shows. The
 * owner must have declared a `childGrace`. A child reads the record of its parent once per heartbeat of its own. The name
 * may be in another store than the child's. Throws a `LeaseNameError` or a `LeaseConfigurationError` if it is not valid, or
 * if the store times leases by observation, because nobody then knows how much time a lease has left at least.
 */
export function watchParent(store: LeaseStore, name: string, owner: string): Parent {
  checkLeaseName(name)
  checkOwner(owner)
  if (store.limits.observed === true) {
    const { kind = 'custom' } = store
    const message =
      `lease '${name}' cannot be watched as a parent: in the ${kind} store each challenger times the holder by itself, so no ` +
      `read shows for how long the lease lasts at least. ${REMEDY}`
    throw new LeaseConfigurationError(message, { leaseName: name, owner, store: kind })
  }
  return { name, owner, [asParent]: (seat) => new WatchedParent(store, name, owner, seat) }
}

/** The parent of one child, in another process. */
class WatchedParent implements ParentView {
  readonly name: string
  readonly #store: LeaseStore
  readonly #owner: string
  readonly #seat: ChildSeat
  readonly #rules: LeaseRules
  #child: Child | undefined
  #current: WatchedGrant | undefined
  #failures = 0
  #cancelRead: (() => void) | undefined
  #cancelDeadline: (() => void) | undefined

  constructor(store: LeaseStore, name: string, owner: string, seat: ChildSeat) {
    this.name = name
    this.#store = store
    this.#owner = owner
    this.#seat = seat
    this.#rules = rulesOf({ ...seat.settings, name }, traitsOf(store))
  }

  includes(store: object, name: string): boolean {
    return this.#store === store && this.name === name
  }

  current(): ParentGrant | undefined {
    return this.#current?.isValid === true ? this.#current : undefined
  }

  async look(): Promise<void> {
    await this.#read()
  }

  join(child: Child): void {
    this.#child = child
    if (this.#cancelRead === undefined) this.#readAfter(this.#rules.heartbeatInterval)
    this.#armDeadline()
  }

  leave(): void {
    this.#child = undefined
    this.#cancelRead?.()
    this.#cancelDeadline?.()
    this.#cancelRead = undefined
    this.#cancelDeadline = undefined
  }

  /** Reads the record, and takes in the answer. Rejects if it is unknown. */
  async #read(): Promise<void> {
    const { clock } = this.#seat
    const sentAt = clock.now()
    const record = await callWithin(this.#rules, clock, 'read', (call) => this.#store.read(this.name, call))
    if (record?.state !== 'leased' || record.owner !== this.#owner || record.grantId === '') return this.#end()
    if (this.#current?.isOf(record) === false) this.#end()
    const until = sentAt + this.#certain(record)
    if (this.#current?.isValid === true) this.#current.extend(until)
    else if (clock.now() < until) this.#current = new WatchedGrant(record, until, clock)
    this.#armDeadline()
  }

  /**
   * For how long after the read was sent nobody else can hold the name, in milliseconds: it does not expire before its
   * remaining time is over, and its owner does not free it before the grace is over.
   */
  #certain(record: LeaseRecord): number {
    const grace = graceOf(record)
    const { remaining, ttl = 0 } = record
    if (remaining === undefined) throw this.#untimed()
    if (grace === undefined) throw this.#undeclared()
    return validityOf(Math.min(remaining - SHARED_CLOCK_DIFFERENCE, ttl, grace))
  }

  #readAfter(delay: number): void {
    this.#cancelRead?.()
    this.#cancelRead = this.#seat.clock.schedule(delay, () => void this.#readAgain())
  }

  async #readAgain(): Promise<void> {
    const { clock, random } = this.#seat
    let pause = this.#rules.heartbeatInterval
    try {
      await this.#read()
      this.#failures = 0
    } catch {
      // A read that failed is no loss: the record is read again within the validity that is left.
      this.#failures += 1
      pause = retryPause(this.#rules, this.#failures, this.#current?.remaining ?? 0, random)
    }
    if (this.#child !== undefined && clock.now() < Number.POSITIVE_INFINITY) this.#readAfter(pause)
  }

  /** Arms the end of the validity. It depends on no answer: a store that hangs keeps no child alive. */
  #armDeadline(): void {
    this.#cancelDeadline?.()
    this.#cancelDeadline = undefined
    if (this.#child === undefined || this.#current === undefined) return
    const { remaining } = this.#current
    if (remaining === 0) this.#end()
    else this.#cancelDeadline = this.#seat.clock.schedule(remaining, () => this.#armDeadline())
  }

  #end(): void {
    if (this.#current === undefined) return
    this.#current.end()
    this.#current = undefined
    this.#child?.onParentLost()
  }

  #undeclared(): LeaseConfigurationError {
    return new LeaseConfigurationError(
      `lease '${this.name}' of owner '${this.#owner}' does not declare how long it waits for children in other processes: ` +
        'create it with { childGrace }, in milliseconds, such as three heartbeat intervals of the children',
      detailsOf(this.#rules),
    )
  }

  #untimed(): LeaseConfigurationError {
    return new LeaseConfigurationError(
      `lease '${this.name}' cannot be watched as a parent: the ${this.#rules.kind} store does not tell how much time is left ` +
        `of a lease. ${REMEDY}`,
      detailsOf(this.#rules),
    )
  }
}

/** One grant of another process, valid for as long as the reads of its record make certain. */
class WatchedGrant implements ParentGrant {
  readonly #record: LeaseRecord
  readonly #clock: ChildSeat['clock']
  #until: number

  constructor(record: LeaseRecord, until: number, clock: ChildSeat['clock']) {
    this.#record = record
    this.#until = until
    this.#clock = clock
  }

  /** The token counts too: after a break, a request that arrives again is granted under the same id, with a new token. */
  isOf({ grantId, fencingToken }: LeaseRecord): boolean {
    return this.#record.grantId === grantId && this.#record.fencingToken === fencingToken
  }

  get isValid(): boolean {
    return this.remaining > 0
  }

  get remaining(): number {
    return Math.max(0, this.#until - this.#clock.now())
  }

  extend(until: number): void {
    this.#until = Math.max(this.#until, until)
  }

  end(): void {
    this.#until = Number.NEGATIVE_INFINITY
  }
}
