import type { AbortListeners } from '../time/abort-listeners.js'
import type { Clock } from '../time/clock.js'
import { Deferred } from '../time/deferred.js'
import { keepAlive } from '../time/keep-alive.js'
import type { AcquireOptions } from './acquire-options.js'

/** One caller of `acquire` or `run` that waits for an outcome, and keeps the process alive until it has one. */
export class Caller extends Deferred<boolean> {
  readonly options: AcquireOptions
  /** When it gives up; `-Infinity` for a caller that tries once. */
  readonly until: number
  /** Stops listening to its signal. */
  unlisten: (() => void) | undefined
  /** Cancels the timer that ends its wait. */
  cancel: (() => void) | undefined
  readonly #endKeeping: (() => void) | undefined

  constructor(options: AcquireOptions, until: number, clock: Clock) {
    super()
    this.options = options
    this.until = until
    if (options.keepAlive !== false) this.#endKeeping = keepAlive(clock)
  }

  /** Whether it waits for its turn, and does not try only once. */
  get waits(): boolean {
    return this.until !== Number.NEGATIVE_INFINITY
  }

  override resolve(isHeld: boolean): void {
    this.#endKeeping?.()
    super.resolve(isHeld)
  }

  override reject(error: unknown): void {
    this.#endKeeping?.()
    super.reject(error)
  }
}

const nobody: readonly never[] = []

/**
 * The callers that share an attempt. Each gets one outcome, and is then removed; from then on, its signal and its timer
 * have no effect. When the last caller has given up, the attempt is given up.
 */
export class SharedCallers<C extends Caller = Caller> {
  readonly #attempt: { abort(): void } | undefined
  /** Absent while there are none, as in a lease that is held. `giveUp` makes a new list: the old one may be iterated. */
  #callers: C[] | undefined
  /** `undefined` until it is asked for, because many callers may join or give up at once. */
  #deadline: number | undefined

  /** `attempt` is aborted when the last caller has given up. */
  constructor(attempt?: { abort(): void }) {
    this.#attempt = attempt
  }

  get all(): readonly C[] {
    return this.#callers ?? nobody
  }

  get isEmpty(): boolean {
    return this.#callers === undefined
  }

  /** Whether any of them waits. */
  get waits(): boolean {
    return this.all.some(({ waits }) => waits)
  }

  /** When the first caller that waits gives up; `Infinity` where none does. */
  get deadline(): number {
    this.#deadline ??= this.all.reduce(
      (earliest, { until, waits }) => (waits ? Math.min(earliest, until) : earliest),
      Number.POSITIVE_INFINITY,
    )
    return this.#deadline
  }

  /** Adds a caller, which gives up when its signal aborts: it is rejected with the reason of the signal. */
  add(caller: C, aborts: AbortListeners): void {
    if (this.#callers === undefined) this.#callers = [caller]
    else this.#callers.push(caller)
    if (this.#deadline !== undefined && caller.waits) this.#deadline = Math.min(this.#deadline, caller.until)
    const { signal } = caller.options
    if (signal === undefined) return
    caller.unlisten = aborts.add(signal, () => {
      this.giveUp(caller)
      caller.reject(signal.reason)
    })
  }

  /** From now on the caller gives up by itself after `delay` milliseconds: it is answered `false`. */
  limit(caller: C, delay: number, clock: Clock): void {
    if (caller.cancel !== undefined || delay === Number.POSITIVE_INFINITY) return
    caller.cancel = clock.schedule(Math.max(0, delay), () => {
      this.giveUp(caller)
      caller.resolve(false)
    })
  }

  /** Removes one caller, which no longer waits. The code that calls this method settles it. */
  giveUp(caller: C): void {
    const place = this.all.indexOf(caller)
    if (place >= 0) this.#take([caller], this.all.toSpliced(place, 1))
    if (this.isEmpty) this.#attempt?.abort()
  }

  /** Removes and returns the first caller; the caller of this method settles it. */
  takeFirst(): C | undefined {
    const first = this.#callers?.shift()
    if (first !== undefined) this.#take([first], this.#callers)
    return first
  }

  /** Removes and returns the callers whose time is up; the caller of this method settles them. */
  takeDue(now: number): readonly C[] {
    const due = this.all.filter(({ until }) => until <= now)
    const left = this.all.filter(({ until }) => until > now)
    return this.#take(due, left)
  }

  /** Removes and returns all callers; the caller of this method settles them. */
  takeAll(): readonly C[] {
    return this.#take(this.all)
  }

  #take(taken: readonly C[], kept?: C[]): readonly C[] {
    this.#callers = kept?.length === 0 ? undefined : kept
    this.#deadline = undefined
    for (const { unlisten, cancel } of taken) {
      unlisten?.()
      cancel?.()
    }
    return taken
  }
}
