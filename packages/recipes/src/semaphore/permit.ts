import type { Held, Lease } from '@leasehold/core'
import { recipePublishers } from '../recipe-channels.js'
import { EnteredLease } from '../slots/entered-lease.js'
import type { Entry } from '../slots/entry.js'

/**
 * One permit of a `Semaphore`: a `Lease` with its own validity, loss and fencing token. Its numbered slot is its own while
 * it is held.
 *
 * The fencing token is larger for every later permit of the semaphore. The holders of different slots act at the same time,
 * so a resource that they share cannot be fenced by one number: fence the part that belongs to `slot`.
 */
export interface Permit extends Lease {
  /** The number of its slot, from 0; `undefined` while not held. No two permits that are valid have the same. */
  readonly slot: number | undefined
  /** Ends the permit for good: a holder is notified (`closed`), its grant is released, and later claims are rejected. */
  close(): Promise<void>
}

/** A permit, as the work of `Semaphore.run` gets it. */
export interface PermitHeld extends Held {
  /** The number of its slot, from 0. */
  readonly slot: number
}

/** A permit is in a slot. */
export class SlotPermit extends EnteredLease implements Permit {
  /** Publishes the end of the permit, if its begin was published. */
  #left: (() => void) | undefined

  get slot(): number | undefined {
    return this.entry?.slot
  }

  protected override onEntered({ lease }: Entry): void {
    const { permit } = recipePublishers
    if (!permit.isOn) return
    const { name: semaphore, settings, count: permits } = this.turnstile
    const message = { semaphore, owner: settings.owner, permits }
    permit.publish({ ...message, held: true })
    const end = (): void => {
      lease.off('lost', end)
      this.#left = undefined
      permit.publish({ ...message, held: false })
    }
    this.#left = end
    lease.on('lost', end)
  }

  /** It is not held any more, also if the store has not confirmed that. */
  protected override async leave(entry: Entry | undefined): Promise<boolean | undefined> {
    this.#left?.()
    return await super.leave(entry)
  }

  /** For work under the permit: a run begins in a slot. */
  get slotInUse(): number {
    const { slot } = this
    if (slot === undefined) throw new Error('a run was started without a slot')
    return slot
  }
}
