import type { LeaseEntry, Place } from './lease-entry.js'
import { isDead, type WaiterProcess } from './waiter-process.js'

/** The order of the waiters of a name: first come, first served. A step costs the same for any number of waiters. */
export class WaitQueue {
  readonly #self: WaiterProcess

  constructor(self: WaiterProcess) {
    this.#self = self
  }

  /** The first place whose waiter is neither dead nor has given up, and the grant ids of the places before it. */
  look({ places }: LeaseEntry, now: number): { readonly stale: readonly string[]; readonly first: Place | undefined } {
    const stale: string[] = []
    for (const place of places.values()) {
      if (now < place.keptUntil && !isDead(place.process, this.#self)) return { stale, first: place }
      stale.push(place.grantId)
    }
    return { stale, first: undefined }
  }

  /** A place for a waiter of this process. */
  place(grantId: string, keptUntil: number): Place {
    return { grantId, process: this.#self, keptUntil }
  }
}
