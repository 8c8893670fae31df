import { isLocked, type LeaseRecord } from '../store/lease-record.js'
import type { StoreCall } from '../store/store-call.js'
import { type MergedWatch, mergedWatches } from './merged-watches.js'
import type { Side } from './side.js'

/** One who waits for a name: with a grant id, a place in the queues. */
interface Waiter {
  readonly grantId: string | undefined
  /** The store that refused its last request. */
  refusedBy: Side['role']
  /** How many requests for it are under way. */
  asking: number
}

/**
 * The watches of those that wait for a name in both stores. A waiter listens to the store that refused it last. One of them
 * has the name in `from` already and waits for `to`; to the others, the end of a grant in `to` says nothing.
 */
export class Turns {
  readonly #closed: AbortSignal
  readonly #waiters = new Map<string, Set<Waiter>>()

  /** `closed`: ends all watches. */
  constructor(closed: AbortSignal) {
    this.#closed = closed
  }

  /** Ends with the request. */
  asks(name: string, grantId: string): () => void {
    const waiters = this.#of(name, grantId)
    for (const waiter of waiters) waiter.asking += 1
    return () => {
      for (const waiter of waiters) waiter.asking -= 1
    }
  }

  refused(name: string, grantId: string, role: Side['role']): void {
    for (const waiter of this.#of(name, grantId)) waiter.refusedBy = role
  }

  async *watch(
    sides: readonly Side[],
    name: string,
    call: StoreCall,
    grantId: string | undefined,
  ): AsyncGenerator<LeaseRecord | undefined, void, undefined> {
    const waiter: Waiter = { grantId, refusedBy: 'from', asking: 0 }
    const waiters = this.#waiters.get(name) ?? new Set()
    this.#waiters.set(name, waiters.add(waiter))
    const watches = sides.flatMap(({ role, store }): MergedWatch<Side['role'], LeaseRecord | undefined>[] => {
      const watch = store.watch?.bind(store)
      return watch === undefined ? [] : [{ of: role, open: (own) => watch(name, own, grantId) }]
    })
    try {
      for await (const { of, value } of mergedWatches(watches, call, this.#closed)) {
        // The signal of `to` may be faster than its refusal.
        const counts = of === waiter.refusedBy || (of === 'to' && waiter.asking > 0)
        if (counts && (of === 'from' || !isLocked(value))) yield value
      }
    } finally {
      waiters.delete(waiter)
      if (waiters.size === 0 && this.#waiters.get(name) === waiters) this.#waiters.delete(name)
    }
  }

  #of(name: string, grantId: string): readonly Waiter[] {
    const waiters = this.#waiters.get(name)
    if (waiters === undefined) return []
    return [...waiters].filter((waiter) => waiter.grantId === undefined || waiter.grantId === grantId)
  }
}
