import { detailsOf } from '../engine/failures.js'
import type { LeaseRules } from '../engine/lease-rules.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import { shownValue } from '../errors/shown-value.js'
import { isLease } from '../lease/is-lease.js'
import { CustomParent } from './custom-parent.js'
import { asParent, type Child, type ChildSeat, type ParentGrant, type ParentLease, type ParentView } from './parent.js'

/** A child's connection to its parent: the grant of the parent under which the child asks for its own, or holds it. */
export class ParentLink {
  readonly parent: ParentView
  readonly #child: Child
  readonly #rules: LeaseRules
  #grant: ParentGrant | undefined
  /** How many times the claims that wait for a look at the parent were given up. */
  #abandoned = 0
  /** Whether the claim that is being made has looked at the parent. */
  #hasLooked = false

  /** Throws a `LeaseConfigurationError` if `parent` is no parent, or is on the child's own name. */
  constructor(parent: ParentLease, store: object, seat: ChildSeat, child: Child) {
    const { rules } = seat
    this.parent = parentViewOf(parent, seat)
    this.#child = child
    this.#rules = rules
    if (!this.parent.includes(store, rules.name)) return
    throw new LeaseConfigurationError(
      `lease '${rules.name}' would stand under itself: a parent, or a parent of a parent, is on the same name. Choose ` +
        'another name for the child',
      detailsOf(rules),
    )
  }

  /** Whether the grant of the parent is not valid, so that the child may neither hold nor get a grant. */
  get isLost(): boolean {
    return this.#grant?.isValid !== true
  }

  /** The validity of the parent that is left, in milliseconds. */
  get remaining(): number {
    return this.#grant?.remaining ?? 0
  }

  /** A new attempt of the child begins: it is for the grant of the parent that is in force now. */
  bind(): void {
    this.#grant = this.parent.current()
  }

  join(): void {
    this.parent.join(this.#child)
  }

  /** The child holds nothing any more, and asks for nothing. */
  leave(): void {
    this.#grant = undefined
    this.parent.leave(this.#child)
  }

  /** Makes the claims that wait for a look at the parent resolve with false. */
  abandon(): void {
    this.#abandoned += 1
  }

  /**
   * The outcome of a claim while the parent is not known to be valid: `undefined` if it is, so that the claim can go on.
   * Looks at the parent first, if that takes a question to its store. Rejects with a `LeaseConflictError` if the parent is
   * not held.
   */
  enter(claim: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<boolean> | undefined {
    if (this.parent.look !== undefined && !this.#hasLooked) return this.#lookAndClaim(claim, signal)
    return this.parent.current() === undefined ? Promise.reject(this.#notHeld()) : undefined
  }

  async #lookAndClaim(claim: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<boolean> {
    const abandoned = this.#abandoned
    await this.parent.look?.()
    if (signal?.aborted === true) throw signal.reason
    if (abandoned !== this.#abandoned) return false
    this.#hasLooked = true
    const claimed = claim()
    this.#hasLooked = false
    return await claimed
  }

  #notHeld(): LeaseConflictError {
    const { name } = this.#rules
    return new LeaseConflictError(
      `lease '${name}' cannot be acquired: its parent '${this.parent.name}' is not held. Acquire the parent first`,
      detailsOf(this.#rules),
    )
  }
}

function parentViewOf(parent: ParentLease, seat: ChildSeat): ParentView {
  const view = (Object(parent) as Partial<Record<typeof asParent, (seat: ChildSeat) => ParentView>>)[asParent]
  if (typeof view === 'function') return view.call(parent, seat)
  if (isLease(parent)) return CustomParent.of(parent)
  throw new LeaseConfigurationError(
    `parent must be a lease, or made by watchParent(), not ${shownValue(parent)}`,
    detailsOf(seat.rules),
  )
}
