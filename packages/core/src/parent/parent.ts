import type { LeaseRules } from '../engine/lease-rules.js'
import type { Lease } from '../lease/lease.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { Clock } from '../time/clock.js'

/** The key of the method that returns a parent as its children see it. */
export const asParent = Symbol('leasehold.asParent')

/** A lease of another process, observed through its store: made by `watchParent`, given to `createLease`. */
export interface Parent {
  /** The lease name. */
  readonly name: string
  /** The owner under whose grants children may be held. */
  readonly owner: string
  /** @internal */
  readonly [asParent]: (seat: ChildSeat) => ParentView
}

/** A lease of this process, or one of another process. */
export type ParentLease = Lease | Parent

/** The facts about a child that are needed to observe its parent in another process. */
export interface ChildSeat {
  readonly settings: LeaseSettings
  readonly rules: LeaseRules
  readonly clock: Clock
  readonly random: () => number
}

/** One grant of a parent, as its children see it. */
export interface ParentGrant {
  /**
   * Whether it is in force and valid now. Synchronous; correct before any timer has run. False for ever once it has ended.
   */
  readonly isValid: boolean
  /** The validity that is left, in milliseconds; 0 when it is not valid. */
  readonly remaining: number
}

/** A child, as its parent sees it. */
export interface Child {
  /** The parent's grant is over: the child ends at once. */
  onParentLost(): void
  /** The parent is being released: the child ends at once. Settles when it is released, or its release was given up. */
  onParentLeaving(): Promise<unknown>
}

/** A parent, as its children see it. */
export interface ParentView {
  readonly name: string
  /** Whether it is the lease on this name in this store, or stands under it. */
  includes(store: object, name: string): boolean
  /** The grant in force, if it is valid: the same object for as long as it is. */
  current(): ParentGrant | undefined
  /**
   * Looks whether the parent is held, if that takes a question to its store. Rejects with a typed error if the answer is
   * unknown, or a child can never be held under it.
   */
  look?(): Promise<void>
  /** From now on the child is notified of the end of the grant in force. */
  join(child: Child): void
  leave(child: Child): void
}

/** A parent of this process: the grant that its children stand under, and the children. */
export abstract class ParentHere<G extends ParentGrant & { isEnded: boolean }> {
  /** The grant in force, once a child has asked for it. */
  protected grant: G | undefined
  readonly #children = new Set<Child>()

  get hasChildren(): boolean {
    return this.#children.size > 0
  }

  join(child: Child): void {
    this.#children.add(child)
  }

  leave(child: Child): void {
    this.#children.delete(child)
  }

  /** The grant was lost: the children end at once. */
  lose(): void {
    this.#end()
    for (const child of [...this.#children]) child.onParentLost()
  }

  /**
   * The lease is being released or handed off: its children end at once, and are released. Resolves when all have been
   * released, or their releases were given up.
   */
  async releaseChildren(): Promise<void> {
    this.#end()
    await Promise.allSettled([...this.#children].map((child) => child.onParentLeaving()))
  }

  #end(): void {
    if (this.grant !== undefined) this.grant.isEnded = true
    this.grant = undefined
  }
}
