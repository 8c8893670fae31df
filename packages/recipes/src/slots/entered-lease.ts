import {
  type AcquireOptions,
  type Clock,
  Lease,
  LeaseError,
  type LeaseErrorCode,
  LeaseUnavailableError,
} from '@leasehold/core'
import { aborts } from '../aborts.js'
import { checkAcquireOptions } from '../acquire-options.js'
import { pauseUntil } from '../pause-until.js'
import type { Attempt, Entry } from './attempt.js'
import { Caller } from './caller.js'
import { enterSlot } from './enter-slot.js'
import type { Turnstile } from './turnstile.js'

/** The longest pause between two attempts for the same callers, in milliseconds. */
const LONGEST_PAUSE = 1_000

/** The failures after which an attempt that waits is made again. */
const transient: ReadonlySet<LeaseErrorCode> = new Set(['timeout', 'unavailable', 'lost'])

/** A lease that is entered through a turnstile, into a slot unless it says otherwise. Each entry has leases of its own. */
export abstract class EnteredLease extends Lease {
  protected readonly turnstile: Turnstile
  protected readonly clock: Clock
  readonly #callers = new Set<Caller>()
  #entry: Entry | undefined
  /** The entry that was held last, which a release that failed has to free. */
  #last: Entry | undefined
  #attempting: Promise<void> | undefined
  #abort = new AbortController()
  #isClosed = false

  constructor(turnstile: Turnstile, clock: Clock) {
    super(turnstile.lease().settings)
    this.turnstile = turnstile
    this.clock = clock
  }

  /** Enters. `undefined`: refused, or not within the wait. Rejects where the outcome is unknown. */
  protected enter(attempt: Attempt): Promise<Entry | undefined> {
    return enterSlot(this.turnstile, attempt, this.clock)
  }

  /** The error with which a claim is refused at once, if it is. */
  protected refusal(): Error | undefined {
    return undefined
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

  override get fencingToken(): bigint | undefined {
    return this.#entry?.lease.fencingToken === undefined ? undefined : this.#entry.fencingToken
  }

  override async acquire(options: AcquireOptions = {}): Promise<boolean> {
    checkAcquireOptions(options, this.settings)
    const { onLost, wait = 0, signal } = options
    if (this.#entry?.lease.checkLease() === true) {
      return await this.#entry.lease.acquire(onLost === undefined ? {} : { onLost })
    }
    if (this.#isClosed) throw this.#closed()
    const refusal = this.refusal()
    if (refusal !== undefined) throw refusal
    signal?.throwIfAborted()
    const caller = new Caller(this.clock.now() + wait, wait > 0, options)
    this.#callers.add(caller)
    const unlisten = signal && aborts.add(signal, () => this.#dismiss(caller, () => caller.reject(signal.reason)))
    if (unlisten !== undefined) caller.settled.addEventListener('abort', unlisten, { once: true })
    if (this.#attempting === undefined) this.#begin()
    else this.#limit(caller)
    return await caller.promise
  }

  override async release(): Promise<boolean> {
    const entry = this.#entry ?? this.#last
    this.#entry = undefined
    this.#last = entry
    const { dropped, ended } = this.#cancel()
    const isGone = (await this.leave(entry)) ?? true
    await ended
    for (const caller of dropped) caller.resolve(false)
    if (this.#last === entry) this.#last = undefined
    return isGone
  }

  /** Frees the claim of an entry. */
  protected async leave(entry: Entry | undefined): Promise<boolean | undefined> {
    const isGone = await entry?.lease.release()
    await entry?.left
    return isGone
  }

  /** Ends the lease for good: a holder is notified (`closed`), its grant is released, and later claims are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true
    const { dropped, ended } = this.#cancel()
    for (const caller of dropped) caller.reject(this.#closed())
    const entry = this.#entry ?? this.#last
    await entry?.lease.close()
    await entry?.left
    await ended
    this.#entry = undefined
  }

  #begin(): void {
    this.#abort = new AbortController()
    const attempting = this.#attempt(this.#abort.signal).finally(() => {
      if (this.#attempting !== attempting) return
      this.#attempting = undefined
      // They came while the attempt was being cancelled.
      if (this.#callers.size > 0) this.#begin()
    })
    this.#attempting = attempting
  }

  /** Makes attempts until no caller waits. Never rejects. */
  async #attempt(signal: AbortSignal): Promise<void> {
    while (this.#callers.size > 0 && !signal.aborted) {
      try {
        const entry = await this.enter(this.#attemptFor(signal))
        if (signal.aborted) {
          await this.leave(entry)
          return
        }
        if (entry?.lease.checkLease() === true) this.#grant(entry)
        else this.#refuse()
      } catch (error) {
        if (!signal.aborted) this.#refuse(error)
      }
      if (this.#callers.size > 0) await this.#pause(signal)
    }
  }

  /** The callers that still wait begin again, for example where the turnstile was lost. */
  async #pause(signal: AbortSignal): Promise<void> {
    const { heartbeatInterval } = this.settings.timeouts
    await pauseUntil(this.clock, Math.min(heartbeatInterval / 10, LONGEST_PAUSE), signal)
  }

  #attemptFor(signal: AbortSignal): Attempt {
    const callers = [...this.#callers]
    const clock = this.clock
    const until = Math.max(...callers.map((caller) => caller.until))
    return {
      signal,
      isPatient: callers.some(({ isPatient }) => isPatient),
      get wait() {
        return Math.max(0, until - clock.now())
      },
      metadata: callers[0]?.options.metadata,
    }
  }

  #grant(entry: Entry): void {
    this.#entry = entry
    this.#last = entry
    for (const caller of this.#callers) {
      const { onLost } = caller.options
      if (onLost !== undefined) void entry.lease.acquire({ onLost })
      caller.resolve(true)
    }
    this.#callers.clear()
  }

  /** Settles the callers whose time is up. */
  #refuse(failure?: unknown): void {
    const now = this.clock.now()
    const isDefinite = failure !== undefined && !(failure instanceof LeaseError && transient.has(failure.code))
    for (const caller of this.#callers) {
      if (caller.until > now && !isDefinite) continue
      this.#callers.delete(caller)
      if (failure === undefined) caller.resolve(false)
      else caller.reject(failure)
    }
  }

  /** A caller that shares an attempt which may take longer than it waits. One that tries once is given a time limit. */
  #limit(caller: Caller): void {
    if (caller.until === Number.POSITIVE_INFINITY) return
    const least = caller.isPatient ? 0 : this.settings.timeouts.operationTimeout
    const cancel = this.clock.schedule(Math.max(caller.until - this.clock.now(), least), () =>
      this.#dismiss(caller, () => caller.resolve(false)),
    )
    caller.settled.addEventListener('abort', cancel, { once: true })
  }

  #dismiss(caller: Caller, settle: () => void): void {
    if (!this.#callers.delete(caller)) return
    settle()
    if (this.#callers.size === 0) this.#abort.abort()
  }

  #cancel(): { readonly dropped: readonly Caller[]; readonly ended: Promise<void> | undefined } {
    const dropped = [...this.#callers]
    this.#callers.clear()
    this.#abort.abort()
    return { dropped, ended: this.#attempting }
  }

  #closed(): LeaseUnavailableError {
    const { name, owner } = this.settings
    return new LeaseUnavailableError(`'${name}' was closed: make another one`, { leaseName: name, owner })
  }
}
