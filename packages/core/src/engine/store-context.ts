import { AbortListeners } from '../abort-listeners.js'
import type { Clock } from '../clock.js'
import { defaultLogger } from '../logger.js'
import type { LeaseStore } from '../store/lease-store.js'
import { guardClock } from '../user-code.js'
import { AttemptSignals } from './attempt-signals.js'
import { GrantIds } from './grant-ids.js'
import { RenewalBatch } from './renewal-batch.js'

/** What has a timer to be brought up to date. */
export interface Armable {
  arm(): void
}

/** A lease that holds its name or waits for it. */
export interface Engaged {
  onStoreClosed(): void
}

/** What the leases of one store share. */
export class StoreContext {
  readonly signals = new AttemptSignals()
  readonly aborts = new AbortListeners()
  readonly grantIds = new GrantIds()
  readonly renewals: RenewalBatch | undefined
  readonly #clock: Clock
  readonly #closed: AbortSignal | undefined
  /** The leases to notify when the store is closed. */
  readonly #engaged = new Set<Engaged>()
  /** The leases whose timers are to be armed, by how soon. */
  readonly #unarmed = new Map<number, Armable[]>()

  constructor(store: LeaseStore, clock: Clock) {
    this.#clock = clock
    this.#closed = store.closed
    this.#closed?.addEventListener('abort', () => this.#onClosed(), { once: true })
    const { renewMany } = store
    if (renewMany !== undefined) {
      this.renewals = new RenewalBatch({ renewMany: renewMany.bind(store) }, clock)
    }
  }

  get isClosed(): boolean {
    return this.#closed?.aborted === true
  }

  /** Says whether a lease holds its name or waits for it, so that it has to know when the store is closed. */
  engage(lease: Engaged, isEngaged: boolean): void {
    if (this.#closed === undefined) return
    if (isEngaged) this.#engaged.add(lease)
    else this.#engaged.delete(lease)
  }

  #onClosed(): void {
    for (const lease of [...this.#engaged]) lease.onStoreClosed()
  }

  /**
   * Arms the timer of a lease within so many milliseconds, with those of all others that asked meanwhile; at 0 in the next
   * turn of the event loop. Most calls, and whole short holds, are over by then and need none.
   */
  armSoon(lease: Armable, within: number): void {
    const unarmed = this.#unarmed.get(within)
    if (unarmed !== undefined) {
      unarmed.push(lease)
      return
    }
    this.#unarmed.set(within, [lease])
    this.#clock.schedule(within, () => this.#arm(within))
  }

  #arm(within: number): void {
    const unarmed = this.#unarmed.get(within)
    this.#unarmed.delete(within)
    for (const lease of unarmed ?? []) lease.arm()
  }
}

/**
 * Keyed by the store, and then by the clock, that it serves, so that it lives just as long: the leases of a store are
 * made one by one, and nothing else knows of all of them.
 */
const contexts = new WeakMap<LeaseStore, WeakMap<Clock, StoreContext>>()

/** Leases report the faults of their clock themselves; for the timers that they share, one warning is enough. */
function reportOnce(): (error: unknown) => void {
  let isReported = false
  return (error) => {
    if (!isReported) defaultLogger.error('the clock of a lease failed', error)
    isReported = true
  }
}

/** What the leases of this store share with one another. */
export function contextOf(store: LeaseStore, clock: Clock): StoreContext {
  let byClock = contexts.get(store)
  if (byClock === undefined) {
    byClock = new WeakMap()
    contexts.set(store, byClock)
  }
  let context = byClock.get(clock)
  if (context === undefined) {
    context = new StoreContext(store, guardClock(clock, reportOnce()))
    byClock.set(clock, context)
  }
  return context
}
