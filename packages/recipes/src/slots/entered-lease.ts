import { type AcquireOptions, Lease, type LeaseStore, LeaseUnavailableError } from '@leasehold/core'
import { checkMetadata, keptAlive, leastWait, leastWaitOf } from '@leasehold/core/internal'
import { checkAcquireOptions } from '../acquire-options.js'
import { SharedAttempt } from '../shared-attempt.js'
import { pauseUntil } from '../waiting.js'
import { type Entry, type EntryRequest, isTransient } from './entry.js'
import { enterSlot } from './slot-search.js'
import type { Turnstile } from './turnstile.js'

/** The longest pause between two attempts for the same callers, in milliseconds. */
const LONGEST_PAUSE = 1_000

/** A lease that is entered through a turnstile, into a slot unless it says otherwise. Each entry has leases of its own. */
export class EnteredLease extends Lease {
  protected readonly turnstile: Turnstile
  readonly #refusal: () => Error | undefined
  /** The entry that was held last: a release that failed has to free it. */
  #entry: Entry | undefined
  #waiting: SharedAttempt
  #attempting: Promise<void> | undefined
  /** The error of later claims, once it was closed. */
  #closed: Error | undefined

  /** `refusal`: the error with which a claim is refused at once, if it is. */
  constructor(turnstile: Turnstile, refusal = (): Error | undefined => undefined) {
    super(turnstile.settings)
    this.turnstile = turnstile
    this.#refusal = refusal
    this.#waiting = new SharedAttempt(turnstile.clock)
  }

  /** Enters. `undefined`: refused, or not within the wait. Rejects where the outcome is unknown. */
  protected enter(request: EntryRequest): Promise<Entry | undefined> {
    return enterSlot(this.turnstile, request)
  }

  /** It was entered, and is held. */
  protected onEntered(_entry: Entry): void {}

  /** @internal For the error of a `run` that was refused. */
  [leastWaitOf](): ReturnType<typeof leastWait> {
    return leastWait(this.store, this.settings.timeouts.heartbeatTimeout)
  }

  get store(): LeaseStore {
    return this.turnstile.store
  }

  /** Whether it is held, or an attempt is under way. */
  get isInUse(): boolean {
    return this.checkLease() || this.#attempting !== undefined
  }

  protected get entry(): Entry | undefined {
    return this.fencingToken === undefined ? undefined : this.#entry
  }

  override checkLease(): boolean {
    return this.#entry?.lease.checkLease() === true
  }

  override get validUntil(): number {
    return this.#entry?.lease.validUntil ?? 0
  }

  override get fencingToken(): bigint | undefined {
    return this.#entry?.lease.fencingToken === undefined ? undefined : this.#entry.fencingToken
  }

  override async acquire(options: AcquireOptions = {}): Promise<boolean> {
    checkAcquireOptions(options, this.settings)
    checkMetadata(options.metadata, this.turnstile.details, this.turnstile.store.limits.metadata)
    const { onLost, wait = 0, signal } = options
    if (this.#entry?.lease.checkLease() === true) {
      return await this.#entry.lease.acquire(onLost === undefined ? {} : { onLost })
    }
    if (this.#closed !== undefined) throw this.#closed
    const refusal = this.#refusal()
    if (refusal !== undefined) throw refusal
    signal?.throwIfAborted()
    if (this.#waiting.call.aborted) this.#waiting = new SharedAttempt(this.turnstile.clock)
    const caller = this.#waiting.join(options)
    if (this.#attempting === undefined) this.#begin()
    // The attempt may take longer than the caller waits. A caller that tries once gets a time limit.
    else this.#waiting.limit(caller, wait || this.settings.timeouts.operationTimeout, this.turnstile.clock)
    return await caller.promise
  }

  override release(): Promise<boolean> {
    return keptAlive(this.turnstile.clock, this.#release())
  }

  async #release(): Promise<boolean> {
    const [entry, attempting] = [this.#entry, this.#attempting]
    const waiting = this.#withdraw()
    const isGone = (await this.leave(entry)) ?? true
    await attempting
    waiting.settle({ isHeld: false })
    if (this.#entry === entry) this.#entry = undefined
    return isGone
  }

  /** Frees the claim of an entry. */
  protected async leave(entry: Entry | undefined): Promise<boolean | undefined> {
    const isGone = await entry?.lease.release()
    await entry?.left
    return isGone
  }

  /** Ends the lease for good: a holder is notified (`closed`), its grant is released, and later claims are rejected. */
  async close(reason: Error = this.#usualReason()): Promise<void> {
    this.#closed = reason
    const [entry, attempting] = [this.#entry, this.#attempting]
    this.#withdraw().settle({ error: reason })
    await entry?.lease.close()
    await keptAlive(this.turnstile.clock, Promise.all([entry?.left, attempting]))
    this.#entry = undefined
  }

  #begin(): void {
    this.#attempting = this.#attempt(this.#waiting).finally(() => {
      this.#attempting = undefined
      // Callers may have come while the attempt was being cancelled.
      if (!this.#waiting.isEmpty) this.#begin()
    })
  }

  /** Makes attempts until no caller waits. Never rejects. */
  async #attempt(waiting: SharedAttempt): Promise<void> {
    const { signal } = waiting.call
    const { heartbeatInterval } = this.settings.timeouts
    while (!waiting.isEmpty && !signal.aborted) {
      try {
        const entry = await this.enter(this.#requestFor(waiting))
        if (signal.aborted) {
          await this.leave(entry)
          return
        }
        if (entry?.lease.checkLease() === true) this.#grant(entry, waiting)
        else this.#refuse(waiting)
      } catch (error) {
        if (!signal.aborted) this.#refuse(waiting, error)
      }
      // The callers that still wait begin again, for example where the turnstile was lost.
      if (!waiting.isEmpty)
        await pauseUntil(this.turnstile.clock, Math.min(heartbeatInterval / 10, LONGEST_PAUSE), waiting.call)
    }
  }

  #requestFor({ call: { signal }, all, until, metadata }: SharedAttempt): EntryRequest {
    const { clock } = this.turnstile
    return {
      signal,
      isPatient: all.some(({ options: { wait = 0 } }) => wait > 0),
      get wait() {
        return Math.max(0, until - clock.now())
      },
      metadata,
    }
  }

  #grant(entry: Entry, waiting: SharedAttempt): void {
    this.#entry = entry
    this.onEntered(entry)
    for (const onLost of waiting.callbacks) void entry.lease.acquire({ onLost })
    waiting.settle({ isHeld: true })
  }

  /** Answers the callers whose time is up. */
  #refuse(waiting: SharedAttempt, failure?: unknown): void {
    const now = this.turnstile.clock.now()
    const isDefinite = failure !== undefined && !isTransient(failure)
    const refused = waiting.takeDue(isDefinite ? Number.POSITIVE_INFINITY : now)
    waiting.settle(failure === undefined ? { isHeld: false } : { error: failure }, refused)
  }

  /** Ends the attempt under way. Its callers are to be answered. */
  #withdraw(): SharedAttempt {
    const waiting = this.#waiting
    this.#waiting = new SharedAttempt(this.turnstile.clock)
    waiting.call.abort()
    return waiting
  }

  #usualReason(): LeaseUnavailableError {
    const { name, owner } = this.settings
    return new LeaseUnavailableError(`'${name}' was closed: make another one`, { leaseName: name, owner })
  }
}
