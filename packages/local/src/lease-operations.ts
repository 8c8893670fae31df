import { type Decision, isLockedAt, type LifeCycleRules, type NameState } from '@leasehold/core/life-cycle'
import type { Boot } from './boot.js'
import type { LeaseDatabase } from './lease-database.js'
import { type LeaseChange, type LocalPlace, toLine } from './lease-entry.js'
import { isDead, type WaiterProcess } from './waiter-process.js'

/** The outcome of an operation, decided on the entry as it is now, and the change of the log that it needs. */
export interface Proposal<T> {
  readonly outcome: T
  /** The outcome holds once the change is in force. */
  readonly change?: LeaseChange | undefined
  /** Whether the name becomes free or is passed on, or has another first waiter: its waiters are then notified. */
  readonly frees?: boolean | undefined
}

/** Turns decisions of core's life cycle into changes of the log, by the database's entries and the time since boot. */
export class LeaseOperations {
  readonly rules: LifeCycleRules
  readonly #database: LeaseDatabase
  readonly #self: WaiterProcess
  readonly #boot: Boot

  /** `self` is the thread for which places in the queue are taken. */
  constructor(database: LeaseDatabase, self: WaiterProcess, boot: Boot) {
    this.#database = database
    this.#self = self
    this.#boot = boot
    this.rules = {
      store: 'local',
      uncertainty: boot.uncertainty,
      tokenAfter: (last = 0n) => database.tokenAfter(last),
      // All places in the log are local.
      isGone: (place) => isDead((place as LocalPlace).process, self),
    }
  }

  stateOf(name: string): NameState & Notified {
    const entry = this.#database.entries.get(name)
    return {
      lease: entry?.lease,
      watched: entry?.watched ?? false,
      queue: entry?.queue,
      now: this.#boot.now(),
    }
  }

  propose<T>(name: string, decide: (state: NameState) => Decision<T>): Proposal<T> {
    const state = this.stateOf(name)
    const { outcome, next, renews, leave = [], keep } = decide(state)
    // A raised token: one of a new grant has its epoch already.
    if (next !== undefined && next.fencingToken !== state.lease?.fencingToken) this.#database.cover(next.fencingToken)
    if (next === undefined && leave.length === 0 && keep === undefined) return { outcome }
    if (next !== undefined && renews === true && Number.isFinite(next.lockedUntil)) {
      // Whole milliseconds, rounded up: the heartbeats of a turn are then equal changes, which share a line.
      return { outcome, change: { renewedUntil: Math.ceil(next.lockedUntil) } }
    }
    const lease = next ?? state.lease
    const isFree = lease !== undefined && !isLockedAt(lease, state.now)
    // Passed on to a waiter, whose place ends with the change.
    const isPassed = next !== undefined && leave.includes(next.grantId) && isLocked(state)
    return {
      outcome,
      change: {
        record: next && toLine(next, state.watched === true && !isFree),
        leave: leave.length === 0 ? undefined : leave,
        keep: keep && [{ ...keep, process: this.#self }],
      },
      frees: (isFree && isNotified(state)) || isPassed,
    }
  }

  /** Makes the process that frees the name notify the others, though the queue is empty. */
  watch(name: string): Proposal<void> {
    const { lease, watched, now } = this.stateOf(name)
    if (lease === undefined) return { outcome: undefined }
    if (!isLockedAt(lease, now)) return { outcome: undefined, frees: true }
    return { outcome: undefined, change: watched ? undefined : { record: toLine(lease, true) } }
  }
}

function isLocked({ lease, now }: NameState): boolean {
  return lease !== undefined && isLockedAt(lease, now)
}

interface Notified {
  readonly watched: boolean
  readonly queue?: { readonly size: number } | undefined
}

/** Whether the process that frees the name notifies the others. */
export function isNotified({ watched, queue }: Notified): boolean {
  return watched || (queue?.size ?? 0) > 0
}
