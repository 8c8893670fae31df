import type { Grant, LeaseRecord, Metadata } from '@leasehold/core'
import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type Decision,
  isLocked,
  LifeCycle,
  type ReleaseOutcome,
  type RenewOutcome,
  type TurnState,
  toLeaseRecord,
} from '@leasehold/core/store'
import type { Boot } from './boot.js'
import type { LeaseDatabase } from './lease-database.js'
import { type LeaseChange, type LeaseEntry, type LocalPlace, toLine } from './lease-entry.js'
import { isDead, type WaiterProcess } from './waiter-process.js'

/** The outcome of an operation, decided on the entry as it is now, and the change of the log that it needs. */
export interface Proposal<T> {
  readonly outcome: T
  /** The outcome holds once the change is in force. */
  readonly change?: LeaseChange | undefined
  /** Whether the name becomes free, or has another first waiter: its waiters are then notified. */
  readonly frees?: boolean | undefined
}

/** Decides operations by core's life cycle, on the entries of the database and by the time since boot. */
export class LeaseOperations {
  readonly #database: LeaseDatabase
  readonly #self: WaiterProcess
  readonly #boot: Boot
  readonly #lifeCycle: LifeCycle<LocalPlace>

  /** `self` is the thread for which places in the queue are taken. */
  constructor(database: LeaseDatabase, self: WaiterProcess, boot: Boot) {
    this.#database = database
    this.#self = self
    this.#boot = boot
    this.#lifeCycle = new LifeCycle<LocalPlace>({
      store: 'local',
      uncertainty: boot.uncertainty,
      tokenAfter: (last = 0n) => database.tokenAfter(last),
      isGone: ({ process }) => isDead(process, self),
    })
  }

  acquire(request: AcquireRequest): Proposal<AcquireOutcome> {
    return this.#propose(request.name, (entry, now) =>
      this.#lifeCycle.acquire(request, entry?.lease, entry?.queue, now),
    )
  }

  renew(grant: Grant, metadata?: Metadata): Proposal<RenewOutcome> {
    return this.#propose(grant.name, (entry, now) => this.#lifeCycle.renew(grant, entry?.lease, now, metadata))
  }

  release(grant: Grant, metadata?: Metadata): Proposal<ReleaseOutcome> {
    return this.#propose(grant.name, (entry, now) => this.#lifeCycle.release(grant, entry?.lease, now, metadata))
  }

  change(grant: Grant, to: { readonly grantId: string; readonly owner: string }): Proposal<AcquireOutcome> {
    return this.#propose(grant.name, (entry, now) => this.#lifeCycle.change(grant, to, entry?.lease, entry?.queue, now))
  }

  break(name: string, options: BreakOptions): Proposal<{ readonly remaining: number }> {
    return this.#propose(name, (entry, now) => this.#lifeCycle.break(name, options, entry?.lease, now))
  }

  withdraw(name: string, grantId: string): Proposal<void> {
    return this.#propose(name, (entry) => ({
      outcome: undefined,
      leave: entry?.queue?.get(grantId) === undefined ? [] : [grantId],
    }))
  }

  /** Makes the process that frees the name notify the others, though the queue is empty. */
  watch(name: string): Proposal<void> {
    const entry = this.#entry(name)
    if (entry === undefined) return { outcome: undefined }
    if (!isLocked(entry.lease, this.#boot.now())) return { outcome: undefined, frees: true }
    return { outcome: undefined, change: entry.watched ? undefined : { record: toLine(entry.lease, true) } }
  }

  read(name: string): LeaseRecord | undefined {
    const entry = this.#entry(name)
    return entry === undefined ? undefined : toLeaseRecord(name, entry.lease, this.#boot.now())
  }

  /** `isNotified`: the process that frees the name notifies the others. */
  turnOf(name: string): TurnState & { readonly isNotified: boolean } {
    const now = this.#boot.now()
    const { lease, queue, watched = false } = this.#entry(name) ?? {}
    const fencingToken = lease?.fencingToken
    if (lease !== undefined && isLocked(lease, now)) {
      return { lockedFor: lease.lockedUntil - now, fencingToken, isNotified: watched || (queue?.size ?? 0) > 0 }
    }
    const { first } = this.#lifeCycle.turn(queue, now)
    const place = first && { grantId: first.grantId, keptFor: first.keptUntil - now }
    return { lockedFor: 0, fencingToken, first: place, isNotified: true }
  }

  #entry(name: string): LeaseEntry | undefined {
    return this.#database.entries.get(name)
  }

  #propose<T>(name: string, decide: (entry: LeaseEntry | undefined, now: number) => Decision<T>): Proposal<T> {
    const now = this.#boot.now()
    const entry = this.#entry(name)
    const { outcome, next, leave = [], keep } = decide(entry, now)
    if (next === undefined && leave.length === 0 && keep === undefined) return { outcome }
    const lease = next ?? entry?.lease
    const isFree = lease !== undefined && !isLocked(lease, now)
    const watched = entry?.watched ?? false
    return {
      outcome,
      change: {
        record: next && toLine(next, watched && !isFree),
        leave: leave.length === 0 ? undefined : leave,
        keep: keep && [{ ...keep, process: this.#self }],
      },
      frees: isFree && (watched || (entry?.queue?.size ?? 0) > 0),
    }
  }
}
