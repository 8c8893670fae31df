import type { Grant, LeaseLostReason, LeaseRecord } from '@leasehold/core'
import { validityOf } from '@leasehold/core/store-kit'

interface HeldGrant {
  readonly name: string
  readonly ttl: number
  /** When `maxHold` ends it. */
  readonly holdUntil: number
  until: number
}

/**
 * For how long the grants in use are valid, from the answers of the store. Recipes use several leases, and some keep theirs
 * to themselves; the command has to end with the one that ends first. Counted by the rules of the engine: from when the last
 * confirmed request was sent.
 */
export class GrantValidity {
  readonly #maxHold: number
  readonly #grants = new Map<string, HeldGrant>()
  /** When the names of broken grants become free. */
  readonly #breaking = new Map<string, number>()
  /** The claims without an answer, and when the first of them was sent. */
  readonly #asked = new Map<string, number>()
  /** Called whenever the validity was extended. */
  onExtended: (() => void) | undefined

  constructor(maxHold = Number.POSITIVE_INFINITY) {
    this.#maxHold = maxHold
  }

  /** The end of the validity, by the clock of the leases; `-Infinity` where nothing is held. */
  get until(): number {
    if (this.#grants.size === 0) return Number.NEGATIVE_INFINITY
    return Math.min(...Array.from(this.#grants.values(), ({ until, holdUntil }) => Math.min(until, holdUntil)))
  }

  /** Until when the name stays locked after this loss, as far as it is certain. */
  lockedUntil(reason: LeaseLostReason): number {
    if (reason !== 'broken' || this.#breaking.size === 0) return Number.NEGATIVE_INFINITY
    return Math.min(...this.#breaking.values())
  }

  /** After a loss: nothing is held any more. */
  forget(): void {
    this.#grants.clear()
    this.#breaking.clear()
  }

  /** A claim with this grant id is being sent. `sentAt`, here and below: by the clock of the leases. */
  asked(grantId: string, sentAt: number): void {
    if (!this.#asked.has(grantId)) this.#asked.set(grantId, sentAt)
  }

  granted({ name, grantId, ttl }: Pick<Grant, 'name' | 'grantId' | 'ttl'>, sentAt: number): void {
    this.#asked.delete(grantId)
    const holdUntil = this.#grants.get(grantId)?.holdUntil ?? sentAt + this.#maxHold
    // An earlier grant of the same name is over.
    for (const [id, grant] of this.#grants) if (grant.name === name) this.#grants.delete(id)
    this.#grants.set(grantId, { name, ttl, holdUntil, until: sentAt + validityOf(ttl) })
    this.onExtended?.()
  }

  renewed(grantId: string, sentAt: number): void {
    const grant = this.#grants.get(grantId)
    if (grant === undefined) return
    grant.until = Math.max(grant.until, sentAt + validityOf(grant.ttl))
    this.onExtended?.()
  }

  /** The grant is being released. */
  leaving(grantId: string): void {
    this.#grants.delete(grantId)
    this.#asked.delete(grantId)
  }

  refused(grantId: string): void {
    this.#asked.delete(grantId)
  }

  /** The grant is over. `holder`: the record of the name, where the store showed it. */
  gone(grantId: string, holder: LeaseRecord | undefined, sentAt: number): void {
    if (holder !== undefined) this.seen(holder, sentAt)
    this.#grants.delete(grantId)
  }

  /** The record of a name, as the store showed it. */
  seen({ name, grantId, state, ttl, remaining }: LeaseRecord, sentAt: number): void {
    const askedAt = this.#asked.get(grantId)
    // The answer was lost, but the claim was granted.
    if (askedAt !== undefined && state === 'leased' && ttl !== undefined) this.granted({ name, grantId, ttl }, askedAt)
    const grant = this.#grants.get(grantId)
    if (state !== 'breaking' || grant === undefined) return
    this.#breaking.set(grantId, Math.min(grant.until, grant.holdUntil, sentAt + (remaining ?? 0)))
  }
}
