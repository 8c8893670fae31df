import {
  type Clock,
  defaultLogger,
  type Health,
  healthOf,
  type LeaseStore,
  LeaseUnavailableError,
  systemClock,
} from '@leasehold/core'
import {
  checkFault,
  faultOfLimit,
  guardClock,
  guardRandom,
  health,
  keptAlive,
  logSafely,
} from '@leasehold/core/internal'
import { checkOptionNames, systemRandom } from '@leasehold/core/store-kit'
import {
  LeaderElection,
  type LeaderElectionOptions,
  type LeaderEvents,
  type StopOptions,
  type Term,
} from '@leasehold/recipes'
import { Dispatcher } from './dispatcher.js'
import { ElectionDirectory, SINGLETON_SHARD } from './election-directory.js'
import type { EntityState } from './entity-state.js'
import { EventListeners } from './event-listeners.js'
import { type AskOptions, RegionCore, type TellOptions, type TellOutcome } from './region-core.js'
import { canTransfer, checkSingletonOptions, type SingletonOptions } from './singleton-options.js'

export type { SingletonOptions } from './singleton-options.js'

/** The events of a `Singleton`, and their arguments. */
export interface SingletonEvents extends LeaderEvents {
  /** Events that nobody waits for were dropped with the lease of the actor: their number, and the reason. */
  dropped: [count: number, reason: string]
}

const DEFAULT_STOP_TIMEOUT = 10_000

/** The part of the time of a stop in which the actor may end its work; the rest is for the last save and the release. */
const DRAIN_PART = 0.9

/** The shortest time between two looks for the process that runs the actor, in milliseconds. */
const LOOK_PAUSE = 500

type Environment = Pick<ConstructorParameters<typeof RegionCore>[0], 'clock' | 'random'>

/**
 * One actor for the whole fleet, with the same `tell` and `ask` in every process. One process runs it: the leader of an
 * election. From `start()` until `stop()`, this process waits to be the next one, unless `host` is `false`.
 *
 * Guaranteed: at most one process handles an event at a time, each event while its lease is valid. Events of one process are
 * handled in their order. The next process takes over after a stop at once, and after a crash when the ttl is over; it
 * begins with the snapshot that was saved last. A save of an earlier process is refused.
 *
 * Not guaranteed: that effects of the actor outside of its state happen once, or that they stop with the lease. Send a
 * fencing token with them, or repeat them safely.
 */
export class Singleton implements AsyncDisposable {
  readonly name: string
  /** The name of this process in the election: as given, or made for it. */
  readonly owner: string
  readonly #options: SingletonOptions
  readonly #store: LeaseStore
  readonly #clock: Clock
  readonly #events: EventListeners<{ [E in keyof SingletonEvents]: SingletonEvents[E] }>
  readonly #stopTimeout: number
  readonly #state: EntityState | undefined
  /** Only observes. */
  readonly #observer: LeaderElection
  readonly #directory: ElectionDirectory
  readonly #core: RegionCore
  #candidate: LeaderElection | undefined
  #isListening = false
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined

  /** Throws a typed error, such as a `LeaseConfigurationError`, if an option is unknown or not valid. */
  constructor(store: LeaseStore, options: SingletonOptions) {
    checkSingletonOptions(options)
    const { name, transport, logger = defaultLogger, stopTimeout = DEFAULT_STOP_TIMEOUT } = options
    this.#options = options
    this.#store = store
    this.#state = options.state?.forRegion?.(name) ?? options.state
    this.#stopTimeout = stopTimeout
    this.name = name
    this.#events = new EventListeners(`singleton '${name}'`, logger)
    const { report } = this.#events
    // Also checks the options of the election, and that the record has room for the address.
    this.#observer = new LeaderElection(store, this.#electionOptions({ address: transport.address }))
    this.#observer.on('error', (error) => report(error, 'its leader could not be read'))
    this.owner = this.#observer.owner
    this.#clock = guardClock(options.clock ?? systemClock, (error) => report(error, 'the clock failed'))
    const random = guardRandom(options.random ?? systemRandom, (error) => report(error, 'random failed'))
    const observer = this.#observer
    const election = {
      // Answers of other processes arrive only when this one listens.
      leader: async () => (this.#isListening ? await observer.leader() : undefined),
      observe: (signal?: AbortSignal) => observer.observe(signal),
    }
    const environment: Environment = { clock: this.#clock, random }
    this.#directory = new ElectionDirectory({ ...environment, election, pause: LOOK_PAUSE, report })
    this.#core = this.#createCore(environment)
  }

  /** Whether this process runs the actor now. Synchronous, without I/O: the `checkLease` of its lease. */
  get isHere(): boolean {
    return this.#candidate?.isLeader === true
  }

  on<E extends keyof SingletonEvents & string>(event: E, listener: (...args: SingletonEvents[E]) => void): this {
    this.#events.on(event, listener)
    return this
  }

  off<E extends keyof SingletonEvents & string>(event: E, listener: (...args: SingletonEvents[E]) => void): this {
    this.#events.off(event, listener)
    return this
  }

  /** See `healthOf`: that of the election. Healthy while this process only sends. */
  [health](): Health {
    return healthOf(this.#candidate ?? this.#observer)
  }

  /**
   * Begins to take messages, and to wait for the actor. Rejects if the address of the transport cannot be used; then it can be
   * started again. Rejects with a `LeaseUnavailableError` after a `stop()`.
   */
  async start(): Promise<void> {
    if (this.#stopping !== undefined) {
      throw new LeaseUnavailableError(`singleton '${this.name}' was stopped: make another one`, {
        leaseName: this.name,
      })
    }
    this.#starting ??= this.#begin()
    try {
      await this.#starting
    } catch (error) {
      this.#starting = undefined
      throw error
    }
  }

  /**
   * Sends an event to the actor. Never rejects, and may be ignored. Resolves with `delivered`: the event is in the queue of the
   * actor; with `deliver: 'at-least-once'`, it was handled, and saved where there is a state. `not-delivered`: it certainly was
   * not handled. `unknown`: it may have been.
   *
   * Throws a `LeaseConfigurationError` if the event is not an object of JSON with a text `type`.
   */
  tell(event: { readonly type: string }, options?: TellOptions): Promise<TellOutcome> {
    return this.#core.tell(this.name, event, options)
  }

  /**
   * Sends an event to the actor, and resolves with its answer: the actor calls `event.reply(answer)`. Rejects with a
   * `NotDeliveredError` if the event certainly was not handled, and with an `OutcomeUnknownError` if it may have been.
   */
  ask<A>(event: { readonly type: string }, options?: AskOptions): Promise<A> {
    return this.#core.ask<A>(this.name, event, options)
  }

  /**
   * Ends for good. If the actor runs here, it handles the events that it has, is saved, and passes to a process that waits.
   * Rejects with a `LeaseTimeoutError` if that takes longer than `timeout`; `stopTimeout` unless given.
   */
  async stop(options: StopOptions = {}): Promise<void> {
    checkOptionNames<StopOptions>('stop', options, { timeout: true }, { leaseName: this.name })
    const { timeout = this.#stopTimeout } = options
    checkFault(faultOfLimit('timeout', timeout), { leaseName: this.name })
    this.#stopping ??= this.#end(timeout)
    await keptAlive(this.#clock, this.#stopping)
  }

  /** Stops at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #electionOptions(metadata: { readonly address: string }): LeaderElectionOptions {
    const {
      actor: _actor,
      transport: _transport,
      host: _host,
      state: _state,
      version: _version,
      migrate: _migrate,
      deliver: _deliver,
      capacity: _capacity,
      holdFor: _holdFor,
      mailbox: _mailbox,
      sendTimeout: _sendTimeout,
      stateTimeout: _stateTimeout,
      ...ofElection
    } = this.#options
    return { ...ofElection, metadata, advertise: canTransfer(this.#store, ofElection.childGrace) }
  }

  #createCore({ clock, random }: Environment): RegionCore {
    const { name, actor, transport, version = 1, migrate, logger = defaultLogger, ...options } = this.#options
    const drainTimeout = Math.min(DRAIN_PART * this.#stopTimeout, Number.MAX_SAFE_INTEGER)
    return new RegionCore({
      name,
      owner: this.owner,
      shards: 1,
      transport,
      directory: this.#directory,
      clock,
      random,
      deliver: options.deliver ?? 'at-most-once',
      capacity: options.capacity ?? 10_000,
      holdFor: options.holdFor ?? 30_000,
      sendTimeout: options.sendTimeout ?? 5_000,
      drainTimeout,
      passivateAfter: Number.POSITIVE_INFINITY,
      entities: {
        logic: actor,
        dispatcher: new Dispatcher(clock),
        state: this.#state,
        version,
        migrate,
        mailbox: options.mailbox ?? 10_000,
        stateTimeout: options.stateTimeout ?? 10_000,
        report: this.#events.report,
      },
      onDropped: (count, reason) => this.#events.emit('dropped', count, reason),
      onOutage: (error, address) => {
        logSafely(logger, 'debug', `singleton '${name}': no answer from ${address}`, error)
      },
    })
  }

  async #begin(): Promise<void> {
    await this.#core.listen()
    this.#isListening = true
    if (this.#stopping !== undefined) return
    if (this.#options.host !== false) this.#campaign()
    void this.#directory.follow()
  }

  #campaign(): void {
    const { address } = this.#options.transport
    const candidate = new LeaderElection(this.#store, {
      ...this.#electionOptions({ address }),
      owner: this.owner,
      onElected: (term) => this.#run(term),
    })
    candidate
      .on('elected', (term) => this.#events.emit('elected', term))
      .on('resigned', (term) => this.#events.emit('resigned', term))
      .on('lost', (term, lost) => this.#events.emit('lost', term, lost))
      .on('unreachable', (outage) => this.#events.emit('unreachable', outage))
      .on('reachable', () => this.#events.emit('reachable'))
      .on('error', (error) => this.#events.report(error))
    this.#candidate = candidate
    candidate.start()
  }

  /** Runs the actor for one term. */
  async #run(term: Term): Promise<void> {
    const { signal, fencingToken } = term
    const held = { shard: SINGLETON_SHARD, signal, fencingToken, checkLease: () => term.checkLease() }
    await this.#core.own(held, this.name)
  }

  async #end(timeout: number): Promise<void> {
    const endsAt = this.#clock.now() + timeout
    this.#core.refuseEvents()
    await this.#starting?.catch(() => {})
    try {
      const transfer = canTransfer(this.#store, this.#options.childGrace) ? { transfer: 'best' } : {}
      await this.#candidate?.stop({ timeout, ...transfer })
    } finally {
      await this.#core.close(Math.max(0, endsAt - this.#clock.now()))
      this.#directory.close()
      await this.#observer.stop()
      await this.#state?.close?.()
    }
  }
}
