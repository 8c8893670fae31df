import {
  type CreateLeaseOptions,
  createLease,
  type Health,
  type HealthSubject,
  healthOf,
  LeaseConfigurationError,
  type LeaseStore,
  LeaseUnavailableError,
  type StoreHeld,
  type StoreLease,
  systemClock,
} from '@leasehold/core'
import {
  checkFault,
  createLeaseOptionNames,
  faultOfLimit,
  health,
  healthFrom,
  logSafely,
} from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import {
  LeaderElection,
  type LeaderElectionOptions,
  Schedule,
  type ScheduleOptions,
  type Term,
} from '@leasehold/recipes'
import { Inject } from '@nestjs/common'
import { checkModuleOptions, type LeaseholdModuleOptions, sharedOptionsOf } from './leasehold-options.js'
import { nestLogger } from './nest-logger.js'

/** The options of `run` and of `@WithLease`: those of its lease, and the following. */
export interface LeaseRunOptions extends CreateLeaseOptions {
  /** For how long a call waits for its turn, in milliseconds; 0 unless given: it tries once. `Infinity`: until it has it. */
  readonly wait?: number | undefined
}

/** The options of an election of the application. `@OnLeader` methods are its work. */
export type ElectionOptions = Omit<LeaderElectionOptions, 'name' | 'onElected'>

const runOptionNames: OptionNames<LeaseRunOptions> = { ...createLeaseOptionNames, wait: true }

const DEFAULT_STOP_TIMEOUT = 10_000

/** The leases of the application, with the store and the options of `LeaseholdModule`. Get it by `@InjectLeases()`. */
export class Leases implements HealthSubject {
  /** The store as the module was given it. */
  readonly store: LeaseStore
  readonly #options: LeaseholdModuleOptions
  readonly #shared: CreateLeaseOptions
  readonly #elections = new Map<string, LeaderElection>()
  readonly #schedules = new Map<string, Schedule>()
  readonly #leaders = new Map<string, ((term: Term) => unknown)[]>()
  /** The leases that are held, and those that are asked for by `run`. */
  readonly #inUse = new Set<StoreLease>()
  readonly #running = new Set<Promise<unknown>>()
  readonly #stopping = new AbortController()

  /** @internal Throws a `LeaseConfigurationError` if an option is invalid. */
  constructor(options: LeaseholdModuleOptions) {
    checkModuleOptions(options)
    this.#options = { ...options, logger: options.logger ?? nestLogger() }
    this.#shared = sharedOptionsOf(this.#options)
    this.store = options.store
  }

  /** A lease with this name. Throws a `LeaseNameError` or a `LeaseConfigurationError` if the name or an option is invalid. */
  lease(name: string, options: CreateLeaseOptions = {}): StoreLease {
    const lease = createLease(this.store, this.#named(name), { ...this.#shared, ...options })
    const forget = (): unknown => this.#inUse.delete(lease)
    return lease
      .on('acquired', () => this.#inUse.add(lease))
      .on('released', forget)
      .on('lost', forget)
  }

  /**
   * Acquires the lease, does the work and releases the lease. Rejects as `run` of a lease does, and with a
   * `LeaseUnavailableError` when the application shuts down.
   */
  async run<T>(name: string, work: (held: StoreHeld) => Promise<T>, options: LeaseRunOptions = {}): Promise<T> {
    checkOptionNames('run', options, runOptionNames, { leaseName: name })
    this.#throwIfStopping()
    const { wait = 0, ...leaseOptions } = options
    const lease = this.lease(name, leaseOptions)
    const run = lease.run(work, { wait, signal: this.#stopping.signal })
    this.#running.add(run)
    try {
      return await run
    } finally {
      this.#running.delete(run)
      await lease.close().catch(() => {})
    }
  }

  /**
   * The election with this name: the same object for everyone in the application. It takes part once a method has
   * `@OnLeader`, or after its `start()`. Throws a `LeaseConfigurationError` if options are given, and it exists already.
   */
  election(name: string, options?: ElectionOptions): LeaderElection {
    const found = this.#elections.get(name)
    if (found !== undefined) {
      if (options === undefined || Object.keys(options).length === 0) return found
      throw new LeaseConfigurationError(
        `the election '${name}' exists already: give its options once, at the first place`,
        {
          leaseName: name,
        },
      )
    }
    this.#throwIfStopping()
    const { stopTimeout } = this.#options
    const election = new LeaderElection(this.store, {
      ...this.#shared,
      stopTimeout,
      ...options,
      name: this.#named(name),
      onElected: (term) => this.#lead(name, term),
    })
    this.#elections.set(name, election)
    return election
  }

  /** The schedule of a `@LeasedCron` or guarded `@Cron` method, by its name: to pause it, to run it now, to read it. */
  schedule(name: string): Schedule | undefined {
    return this.#schedules.get(name)
  }

  /** The names of the schedules. */
  get schedules(): readonly string[] {
    return [...this.#schedules.keys()]
  }

  /** See `healthOf`: as unhealthy as the first unhealthy schedule, election or lease. */
  [health](): Health {
    const parts = [...this.#schedules.values(), ...this.#elections.values(), ...this.#inUse].map((part) =>
      healthOf(part),
    )
    return healthFrom(parts.find(({ healthy }) => !healthy)?.reason, { parts: parts.map(({ details }) => details) })
  }

  /** @internal Adds the work of a leader. */
  addLeader(name: string, work: (term: Term) => unknown): void {
    this.#leaders.set(name, [...(this.#leaders.get(name) ?? []), work])
  }

  /** @internal A schedule, not started yet. It takes the place of the one before it with this name. */
  addSchedule(name: string, options: Omit<ScheduleOptions, 'name'>): Schedule {
    const { stopTimeout, now } = this.#options
    const schedule = new Schedule(this.store, {
      ...this.#shared,
      stopTimeout,
      now,
      ...options,
      name: this.#named(name),
    })
    this.#schedules.set(name, schedule)
    return schedule
  }

  /** @internal Throws if `run` would not accept the name or the options. */
  checkRun(name: string, options: LeaseRunOptions): void {
    checkOptionNames('run', options, runOptionNames, { leaseName: name })
    const { wait = 0, ...leaseOptions } = options
    checkFault(faultOfLimit('wait', wait), { leaseName: name })
    createLease(this.store, this.#named(name), { ...this.#shared, ...leaseOptions })
  }

  /** @internal The options of the module. */
  get options(): LeaseholdModuleOptions {
    return this.#options
  }

  /** @internal Ends all schedules and elections, and waits for the work in progress. Does not reject: it logs. */
  async drain(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#stopping.abort(new LeaseUnavailableError('the application shuts down: it takes no more leases'))
    const recipes = [...this.#schedules.values(), ...this.#elections.values()]
    await Promise.all([...recipes.map((recipe) => this.#logging(recipe.stop())), this.#runsEnded()])
    await Promise.all([...this.#inUse].map((lease) => this.#logging(lease.close())))
  }

  /** @internal Closes the store, unless it is to stay open. */
  async close(): Promise<void> {
    await this.drain()
    if (this.#options.closeStore ?? true) await this.#logging(this.store.close())
  }

  async #lead(name: string, term: Term): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      if (term.signal.aborted) resolve()
      else term.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.all((this.#leaders.get(name) ?? []).map(async (work) => await work(term)))
    // A method that has started something and returned still leads.
    await ended
  }

  /** Resolves when the runs in progress have ended, or their time is over. */
  async #runsEnded(): Promise<void> {
    const { clock = systemClock, stopTimeout = DEFAULT_STOP_TIMEOUT } = this.#options
    let cancel = (): void => {}
    const late = new Promise<void>((resolve) => {
      cancel = clock.schedule(stopTimeout, resolve)
    })
    await Promise.race([Promise.allSettled(this.#running), late])
    cancel()
  }

  async #logging(ending: Promise<unknown>): Promise<void> {
    try {
      await ending
    } catch (error) {
      const { logger = nestLogger() } = this.#options
      logSafely(logger, 'error', 'a lease was not ended in order: it is free when its ttl is over', error)
    }
  }

  #named(name: string): string {
    // The lease itself rejects an invalid name.
    return typeof name === 'string' && name !== '' ? `${this.#options.prefix ?? ''}${name}` : name
  }

  #throwIfStopping(): void {
    this.#stopping.signal.throwIfAborted()
  }
}

/** Injects the {@link Leases} of the application. */
export function InjectLeases(): PropertyDecorator & ParameterDecorator {
  return Inject(Leases)
}
