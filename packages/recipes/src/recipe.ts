import {
  type Clock,
  defaultLogger,
  type LeaseStore,
  LeaseTimeoutError,
  LeaseUnavailableError,
  type Logger,
  type StoreLease,
  systemClock,
} from '@leasehold/core'
import {
  callGuarded,
  checkFault,
  faultOfFlag,
  faultOfLimit,
  guardClock,
  keptAlive,
  logSafely,
} from '@leasehold/core/internal'
import { AbortableCall, type LeaseErrorDetails } from '@leasehold/core/store'
import { checkOptionNames } from '@leasehold/core/store-kit'
import { EventEmitter } from 'eventemitter3'
import type { RecipeOptions, StartedRecipeOptions } from './recipe-options.js'
import { StoreOutage } from './store-outage.js'
import { endsWithin } from './waiting.js'

/** The events of every recipe, and their arguments. */
export interface RecipeEvents {
  /** The recipe waits for a store that cannot be reached, or that refuses it. Emitted at the beginning of the outage. */
  unreachable: [outage: { readonly cause: unknown }]
  /** The store has answered again. */
  reachable: []
  /** An error of the work or of a listener, or a failure in the background. Without a listener, the logger gets it. */
  error: [error: unknown]
}

export interface StopOptions {
  /** For how long `stop()` waits for the work in progress to end, in milliseconds; the option `stopTimeout` unless given. */
  readonly timeout?: number | undefined
}

/** A recipe over keys may have no name. */
type NameableOptions = Omit<RecipeOptions, 'name'> & { readonly name?: string | undefined }

const DEFAULT_STOP_TIMEOUT = 10_000

/** The life cycle and the events of every recipe. */
export abstract class Recipe<Events extends RecipeEvents & Record<keyof Events, unknown[]> = RecipeEvents>
  implements AsyncDisposable
{
  /** @internal */
  protected readonly clock: Clock
  /** @internal */
  protected readonly logger: Logger
  /** @internal For how long `stop()` waits unless it is given a time. */
  protected readonly stopTimeout: number
  /** @internal Aborted by `stop()`. */
  protected readonly stopping = new AbortableCall()
  /** @internal */
  protected readonly outage: StoreOutage
  readonly #subject: string
  readonly #details: LeaseErrorDetails
  readonly #emitter = new EventEmitter()

  /** @internal `kind`: the recipe, in errors and logs. */
  protected constructor(kind: string, store: LeaseStore, options: NameableOptions) {
    const { name, owner, clock = systemClock, logger = defaultLogger, stopTimeout = DEFAULT_STOP_TIMEOUT } = options
    const { kind: of } = Object(store) as Partial<LeaseStore>
    this.#subject = name === undefined ? kind : `${kind} '${name}'`
    this.#details = {
      ...(name === undefined ? {} : { leaseName: name }),
      ...(owner === undefined ? {} : { owner }),
      ...(of === undefined ? {} : { store: of }),
    }
    checkFault(faultOfLimit('stopTimeout', stopTimeout), this.#details)
    this.logger = logger
    this.stopTimeout = stopTimeout
    this.clock = guardClock(clock, (error) => this.report(error, 'the clock failed'))
    this.outage = new StoreOutage(this.clock, this.reportLine, (event, ...args) => this.#emit(event, args))
  }

  /** Aborted by `stop()`, with the error that later calls reject with. */
  get closed(): AbortSignal {
    return this.stopping.signal
  }

  on<E extends keyof Events & string>(event: E, listener: (...args: Events[E]) => void): this {
    this.#emitter.on(event, listener)
    return this
  }

  off<E extends keyof Events & string>(event: E, listener: (...args: Events[E]) => void): this {
    this.#emitter.off(event, listener)
    return this
  }

  /**
   * Ends the recipe for good: aborts the signals of its works, waits for them within `timeout`, and releases its leases. Later
   * calls reject with a `LeaseUnavailableError`, except those that only read. Rejects with a `LeaseTimeoutError` if something
   * is left that could not be ended in time: its name is free when the work has ended, or the ttl is over. Rejects with a
   * `LeaseConfigurationError`, and ends nothing, if an option is invalid.
   */
  async stop(options: StopOptions = {}): Promise<void> {
    checkOptionNames<StopOptions>('stop', options, { timeout: true }, this.#details)
    const { timeout = this.stopTimeout } = options
    checkFault(faultOfLimit('timeout', timeout), this.#details)
    const message = `${this.#subject} was stopped: make another one`
    this.stopping.abort(new LeaseUnavailableError(message, this.#details))
    await keptAlive(this.clock, this.end(timeout))
  }

  /** Stops at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** @internal Ends the works and the leases, after `stopping` was aborted. */
  protected abstract end(timeout: number): Promise<void>

  /** @internal Throws after a `stop()`. */
  protected throwIfStopped(): void {
    this.closed.throwIfAborted()
  }

  /** @internal */
  protected emit<E extends keyof Events & string>(event: E, ...args: Events[E]): void {
    this.#emit(event, args)
  }

  /** @internal Emits `error`. Without a listener, the logger gets the error. */
  protected readonly report = (error: unknown, message = 'an error in the background'): void => {
    if (this.#emitter.listenerCount('error') > 0) this.#emit('error', [error])
    else logSafely(this.logger, 'error', `${this.#subject}: ${message}`, error)
  }

  /**
   * @internal Emits `error`. Without a listener, the logger gets one line, because the same failure may come again. Without an
   * error, the logger gets the line in any case.
   */
  protected readonly reportLine = (line: string, error?: unknown): void => {
    if (error !== undefined && this.#emitter.listenerCount('error') > 0) this.#emit('error', [error])
    else logSafely(this.logger, 'warn', `${this.#subject}: ${line}`)
  }

  /** @internal Reports failures and outages of the lease as the recipe's. The lease logs the outages of its waits. */
  protected readonly watch = (lease: StoreLease): StoreLease =>
    lease
      .on('error', (error) => this.report(error))
      .on('unreachable', ({ cause }) => this.outage.begin(cause))
      .on('reachable', () => this.outage.onAnswer())
      .on('acquired', () => this.outage.onAnswer())

  /**
   * @internal Ends these leases at once, and waits for their releases. Rejects with a `LeaseTimeoutError` if one was not
   * confirmed in time.
   */
  protected async close(leases: Iterable<{ close(reason: Error): Promise<void> }>, timeout: number): Promise<void> {
    const left = new Set(leases)
    const count = left.size
    let cause: unknown
    const closing = Array.from(left, async (lease) => {
      try {
        await lease.close(this.closed.reason)
        left.delete(lease)
      } catch (error) {
        cause ??= error
      }
    })
    await endsWithin(this.clock, timeout, Promise.all(closing))
    if (left.size === 0) return
    const message =
      `${this.#subject}: ${left.size} of ${count} leases were not released within ${timeout} ms: their names are free when ` +
      'their ttl is over; give stop more time, or look at the cause'
    throw new LeaseTimeoutError(message, { ...this.#details, cause })
  }

  /** @internal Why the recipe is unhealthy, if the store has failed for longer than `longest` milliseconds. */
  protected outageAilment(longest: number): string | undefined {
    const { duration } = this.outage
    if (duration <= longest) return undefined
    return `${this.#subject}: the store cannot be reached, or refuses it, for ${Math.round(duration / 1_000)} s now`
  }

  #emit(event: string, args: readonly unknown[]): void {
    for (const listener of this.#emitter.listeners(event)) {
      callGuarded(
        () => listener(...args),
        (error) => {
          const message = `a listener of '${event}' failed`
          if (event === 'error') logSafely(this.logger, 'error', `${this.#subject}: ${message}`, error)
          else this.report(error, message)
        },
      )
    }
  }
}

/** A recipe that acts by itself, from `start()` until `stop()`. */
export abstract class StartedRecipe<
  Events extends RecipeEvents & Record<keyof Events, unknown[]> = RecipeEvents,
> extends Recipe<Events> {
  /** @internal Settles when `act` has ended; `undefined` before `start()`. */
  protected running: Promise<void> | undefined
  /** @internal */
  protected readonly keepAlive: boolean

  /** @internal */
  protected constructor(kind: string, store: LeaseStore, options: StartedRecipeOptions) {
    super(kind, store, options)
    const { name: leaseName, keepAlive = true } = options
    checkFault(faultOfFlag('keepAlive', keepAlive), { leaseName })
    this.keepAlive = keepAlive
  }

  /** Begins to act, until `stop()`. No effect if it does already. Throws a `LeaseUnavailableError` after a `stop()`. */
  start(): void {
    this.throwIfStopped()
    this.running ??= keptAlive(this.clock, this.act(), this.keepAlive)
  }

  /** @internal Acts until `stopping` is aborted. Never rejects. */
  protected abstract act(): Promise<void>
}
