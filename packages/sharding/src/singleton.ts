import { type Health, healthOf, type LeaseStore, TimeoutSettings } from '@leasehold/core'
import { guardRandom, health, logSafely } from '@leasehold/core/internal'
import { systemRandom } from '@leasehold/core/store-kit'
import { type ElectionStopOptions, LeaderElection, type LeaderEvents, type Term } from '@leasehold/recipes'
import { leaseOptionsOf, OuterRecipe } from '@leasehold/recipes/internal'
import type { AnyActorLogic, EventFromLogic } from 'xstate'
import { Dispatcher } from './dispatcher.js'
import { ElectionDirectory, SINGLETON_SHARD } from './election-directory.js'
import { closeState, type EntityState } from './entity-state.js'
import { type AskOptions, RegionCore, type TellOptions, type TellOutcome } from './region-core.js'
import { canTransfer, checkSingletonOptions, electionOptionsOf, type SingletonOptions } from './singleton-options.js'

export type { SingletonOptions } from './singleton-options.js'

/** The part of the time of a stop in which the actor may end its work; the rest is for the hand-over. */
const DRAIN_PART = 0.9

/** The shortest time between two looks for the process that runs the actor, in milliseconds. */
const LOOK_PAUSE = 500

/**
 * One actor for the whole fleet, with the same `tell` and `ask` in every process. One process runs it: the leader of an
 * election. From `start()` until `stop()`, this process waits to be the next one, unless `host` is `false`.
 *
 * Guaranteed: at most one process handles an event at a time, each event while its lease is valid, as far as clocks go.
 * Events of one process are handled in their order. The next process takes over after a stop at once, and after a crash when
 * the ttl is over; it begins with the snapshot that was saved last, and a save of an earlier process is refused. The actor
 * runs from the beginning of a term, without an event too, and starts again after a failure.
 *
 * Not guaranteed: that effects of the actor outside of its state happen once, or that they end with the lease.
 */
export class Singleton<Logic extends AnyActorLogic = AnyActorLogic> extends OuterRecipe<LeaderEvents> {
  readonly name: string
  /** The name of this process in the election: as given, or made for it. */
  readonly owner: string
  readonly #store: LeaseStore
  readonly #options: SingletonOptions<Logic>
  readonly #state: EntityState | undefined
  /** Only observes. */
  readonly #observer: LeaderElection
  readonly #directory: ElectionDirectory
  readonly #core: RegionCore
  readonly #closeTimeout: number
  #candidate: LeaderElection | undefined
  #isListening = false
  #listening: Promise<void> | undefined

  /** Throws a `LeaseConfigurationError` or a `LeaseNameError` if an option is unknown or not valid. */
  constructor(store: LeaseStore, options: SingletonOptions<Logic>) {
    checkSingletonOptions(store, options)
    super('singleton', store, options)
    const { name, random = systemRandom } = options
    this.name = name
    this.#store = store
    this.#options = options
    this.#state = options.state?.forRegion?.(name) ?? options.state
    // It also checks the options of the election, and that a record has room for the address.
    const observer = new LeaderElection(store, electionOptionsOf(store, options))
    observer.on('error', (error) => this.report(error, 'it cannot be read where the actor runs'))
    this.#observer = observer
    this.owner = observer.owner
    this.#closeTimeout = new TimeoutSettings(leaseOptionsOf(options)).operationTimeout
    const guarded = guardRandom(random, (error) => this.report(error, 'random failed'))
    this.#directory = new ElectionDirectory({
      clock: this.clock,
      random: guarded,
      pause: LOOK_PAUSE,
      report: (error) => this.report(error, 'it cannot be read where the actor runs'),
      election: {
        // Answers of other processes arrive only when this one listens.
        leader: async () => (this.#isListening ? await observer.leader() : undefined),
        observe: (signal) => observer.observe(signal),
      },
    })
    this.#core = this.#coreOf(options, guarded)
  }

  /** Whether this process runs the actor now. Synchronous, without I/O: the `checkLease` of its lease. */
  get isHere(): boolean {
    return this.#candidate?.isLeader === true
  }

  /**
   * Begins to take messages, and to wait for its turn to run the actor. Rejects if the address of the transport cannot be used:
   * then it can be started again. Rejects with a `LeaseUnavailableError` after a `stop()`.
   */
  override start(): Promise<void> {
    if (this.closed.aborted) this.#listening = undefined
    this.#listening ??= this.#begin()
    // It is reported, and need not be awaited.
    this.#listening.catch(() => {})
    return this.#listening
  }

  /**
   * Sends an event to the actor, wherever it runs. The promise never rejects, and need not be awaited. It resolves `delivered`
   * when the event is in the queue of the actor, or, at least once, when it was handled and saved; `not-delivered` when the
   * actor certainly did not get it; `unknown` when it may have, or may still. Throws a `LeaseConfigurationError`, and sends
   * nothing, if JSON cannot carry the event, or an option is invalid.
   */
  tell(event: EventFromLogic<Logic>, options?: TellOptions): Promise<TellOutcome> {
    return this.#core.tell(this.name, event, options)
  }

  /**
   * Sends an event to the actor, at most once, and resolves with what the actor gives to `event.reply`, after that is saved.
   * Rejects with a `NotDeliveredError` if the actor certainly did not get the event, with an `OutcomeUnknownError` if it may
   * have, and with a `LeaseConfigurationError` as `tell` does.
   */
  ask<Answer = unknown>(event: EventFromLogic<Logic>, options?: AskOptions): Promise<Answer> {
    return this.#core.ask<Answer>(this.name, event, options)
  }

  /** See `healthOf`: unhealthy as its `LeaderElection` is. */
  [health](): Health {
    return healthOf(this.#candidate ?? this.#observer)
  }

  /** Called by the base class, once it has started. */
  protected override async act(): Promise<void> {
    if (this.#options.host !== false) this.#campaign()
    await this.#directory.follow()
    await new Promise<void>((resolve) => this.stopping.onAbort(resolve))
  }

  /** The actor handles the events that it has, is saved, and passes to a process that waits. Never rejects. */
  protected override async end(timeout: number): Promise<void> {
    const endsAt = this.clock.now() + timeout
    const stopped = (options: ElectionStopOptions): Promise<void> =>
      this.#candidate?.stop(options).catch((error) => this.report(error, 'the actor was not handed over in time')) ??
      Promise.resolve()
    await this.#listening?.catch(() => {})
    await stopped({ timeout, ...(canTransfer(this.#store, this.#options) ? { transfer: 'best' } : {}) })
    const left = Math.max(0, endsAt - this.clock.now())
    await this.#core.close(left).catch((error) => this.report(error, 'the transport could not be closed'))
    // The core has ended the actor: its lease can be released.
    await stopped({ timeout: this.#closeTimeout })
    this.#directory.close()
    await this.#observer.stop().catch((error) => this.report(error, 'the election could not be left'))
    await closeState(this.#state, this.report)
  }

  async #begin(): Promise<void> {
    try {
      this.throwIfStopped()
      await this.#core.listen()
    } catch (error) {
      this.#listening = undefined
      if (!this.stopping.aborted) this.report(error, 'the address of the transport cannot be used')
      throw error
    }
    this.#isListening = true
    if (!this.stopping.aborted) super.start()
  }

  #coreOf(options: SingletonOptions<Logic>, random: () => number): RegionCore {
    const { name, transport, capacity = 10_000, deliver = 'at-most-once', version = 1 } = options
    const { clock, logger, report } = this
    const { heartbeatTimeout, operationTimeout } = new TimeoutSettings(leaseOptionsOf(options))
    const { holdFor = 2 * heartbeatTimeout, mailbox = 1_000, actor: logic, migrate } = options
    const [dispatcher, state, stateTimeout] = [new Dispatcher(clock), this.#state, 2 * operationTimeout]
    return new RegionCore({
      name,
      owner: this.owner,
      shards: 1,
      transport,
      directory: this.#directory,
      clock,
      random,
      deliver,
      capacity,
      holdFor,
      sendTimeout: operationTimeout,
      drainTimeout: DRAIN_PART * this.stopTimeout,
      passivateAfter: Number.POSITIVE_INFINITY,
      entities: { logic, dispatcher, state, version, migrate, mailbox, stateTimeout, report },
      onDropped: (count, reason) => this.reportLine(`${count} events were dropped: ${reason}`),
      onOutage: (error, address) => logSafely(logger, 'debug', `singleton '${name}': no answer from ${address}`, error),
    })
  }

  #campaign(): void {
    const candidate = new LeaderElection(this.#store, {
      ...electionOptionsOf(this.#store, this.#options),
      owner: this.owner,
      onElected: (term) => this.#run(term),
    })
    candidate
      .on('elected', (term) => this.emit('elected', term))
      .on('resigned', (term) => this.emit('resigned', term))
      .on('lost', (term, lost) => this.emit('lost', term, lost))
      .on('unreachable', (outage) => this.emit('unreachable', outage))
      .on('reachable', () => this.emit('reachable'))
      .on('error', (error) => this.report(error))
    this.#candidate = candidate
    candidate.start()
  }

  /** Runs the actor for one term. */
  async #run(term: Term): Promise<void> {
    const { signal, fencingToken } = term
    const held = { shard: SINGLETON_SHARD, signal, fencingToken, checkLease: () => term.checkLease() }
    await this.#core.own(held, this.name)
  }
}
