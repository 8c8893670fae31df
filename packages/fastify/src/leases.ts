import {
  type AcquireOptions,
  type CreateLeaseOptions,
  createLease,
  type Health,
  type HealthSubject,
  healthOf,
  LeaseConfigurationError,
  type LeasedWork,
  type LeaseStore,
  LeaseUnavailableError,
  type Logger,
  type StoreLease,
  systemClock,
} from '@leasehold/core'
import {
  createLeaseOptionNames,
  health,
  healthFrom,
  inTime,
  logSafely,
  reasonOf,
  shownText,
} from '@leasehold/core/internal'
import {
  LeaderElection,
  type LeaderElectionOptions,
  Recipe,
  Schedule,
  type ScheduledWork,
  type ScheduleOptions,
  type StartedRecipe,
} from '@leasehold/recipes'
import type { FastifyBaseLogger } from 'fastify'
import { fromFastifyLogger } from './fastify-logger.js'

/** A logger of Fastify takes the place of `logger`. */
export interface WithLog {
  /** Where this one logs to, such as `request.log`; the log of the plugin unless given. */
  readonly log?: FastifyBaseLogger | undefined
}

/** The options of a lease: those of `createLease`, in milliseconds. The options of the plugin are their defaults. */
export type LeaseOptions = Omit<CreateLeaseOptions, 'logger'> & WithLog

/** The options of `run`: those of the lease, and those of the attempt to acquire it. */
export type RunOptions = LeaseOptions & AcquireOptions

/** The options of a `Schedule`, except for those that are arguments. */
export type LeasedScheduleOptions = Omit<ScheduleOptions, 'name' | 'cron' | 'every' | 'work' | 'logger'> & WithLog

/** The options of a `LeaderElection`, except for its name. */
export type LeasedElectionOptions = Omit<LeaderElectionOptions, 'name' | 'logger'> &
  WithLog & {
    /** Whom a leader hands over to when the server closes, `'best'` or an owner: see `stop` of `LeaderElection`. */
    readonly transfer?: string | undefined
  }

/** @internal */
export interface LeasesSettings {
  readonly store: LeaseStore
  readonly defaults: CreateLeaseOptions
  readonly log: FastifyBaseLogger
  readonly stopTimeout: number
  readonly closeStore: boolean
}

/** Any recipe, whatever its events are, for `add`. */
export type AddedRecipe = Pick<Recipe, 'stop' | 'closed'> & Partial<Pick<StartedRecipe, 'start'>>

interface Part {
  readonly recipe: AddedRecipe
  readonly stop: () => Promise<void>
}

/** The leases, schedules and elections of a Fastify server. They start when it listens, and end when it closes. */
export class Leases implements HealthSubject {
  /** The store of the plugin, for recipes that are made by hand: see `add`. */
  readonly store: LeaseStore
  readonly #settings: LeasesSettings
  readonly #parts = new Map<string, Part>()
  /** Weak: a lease that is not in use, and that nobody keeps, needs no end. */
  readonly #leases = new Set<WeakRef<StoreLease>>()
  readonly #collected = new FinalizationRegistry<WeakRef<StoreLease>>((lease) => this.#leases.delete(lease))
  readonly #runs = new Set<Promise<unknown>>()
  /** The recipes for which the store cannot be reached, and why. */
  readonly #outages = new Map<string, unknown>()
  #isStarted = false
  #isEnding = false
  #isClosed = false
  #schedulesEnded: Promise<unknown> = Promise.resolve()

  /** @internal */
  constructor(settings: LeasesSettings) {
    this.store = settings.store
    this.#settings = settings
  }

  /**
   * A lease on `name`, to be acquired and released by hand. The plugin releases it when the server closes. Throws a
   * `LeaseNameError` or a `LeaseConfigurationError` if an option is invalid, and a `LeaseUnavailableError` after the server has closed.
   */
  lease(name: string, options: LeaseOptions = {}): StoreLease {
    this.#throwIf(this.#isClosed)
    const lease = createLease(this.store, name, { ...this.#settings.defaults, ...this.#withLogger(options) })
    const kept = new WeakRef(lease)
    this.#leases.add(kept)
    this.#collected.register(lease, kept)
    return lease
  }

  /**
   * Acquires a new lease on `name`, does the work and releases the lease: see `run` of a lease. Two calls exclude each other,
   * also in one process. Rejects with a `LeaseHeldError` if another owner holds the name for longer than `wait`.
   */
  async run<T>(name: string, work: LeasedWork<T>, options: RunOptions = {}): Promise<T> {
    const [ofLease, ofAttempt] = divided(options)
    const running = this.lease(name, ofLease).run(work, ofAttempt)
    this.#runs.add(running)
    try {
      return await running
    } finally {
      this.#runs.delete(running)
    }
  }

  /**
   * Runs the work at each tick, on one of the instances: see `Schedule`. `expression`: a cron expression, or the interval in
   * milliseconds. Throws a `LeaseNameError` or a `LeaseConfigurationError` if an option is invalid, or the name is in use here.
   */
  schedule(
    name: string,
    expression: string | number,
    work: ScheduledWork,
    options: LeasedScheduleOptions = {},
  ): Schedule {
    this.#throwIf(this.#isEnding)
    const when = typeof expression === 'number' ? { every: expression } : { cron: expression }
    const { maxHold: _, ...defaults } = this.#settings.defaults
    const all = { ...defaults, ...this.#stopTimeout, ...this.#withLogger(options) }
    return this.#add(name, new Schedule(this.store, { ...all, ...when, name, work }))
  }

  /**
   * Makes this instance a candidate: see `LeaderElection`. Throws a `LeaseNameError` or a `LeaseConfigurationError` if an option is
   * invalid, or the name is in use here.
   */
  election(name: string, options: LeasedElectionOptions = {}): LeaderElection {
    this.#throwIf(this.#isClosed)
    const { transfer, ...others } = options
    const all = { ...this.#settings.defaults, ...this.#stopTimeout, ...this.#withLogger(others) }
    const election = new LeaderElection(this.store, { ...all, name })
    return this.#add(name, election, () => this.#stopElection(name, election, transfer))
  }

  /** Starts and stops any other recipe with the server, such as a `PartitionGroup`. `name`: a name for the health page. */
  add<R extends AddedRecipe>(name: string, recipe: R): R {
    this.#throwIf(recipe instanceof Schedule ? this.#isEnding : this.#isClosed)
    return this.#add(name, recipe)
  }

  /**
   * See `healthOf`: unhealthy with the first of its recipes and leases that is unhealthy. `details` has the health of each
   * recipe, the number of leases held, the leases that are unhealthy, and why the store cannot be reached.
   */
  [health](): Health {
    const recipes = new Map<string, Health>()
    for (const [name, { recipe }] of this.#parts) if (isSubject(recipe)) recipes.set(name, healthOf(recipe))
    const leases = [...this.#living()]
    const unhealthy = leases.map(healthOf).filter(({ healthy }) => !healthy)
    const [outage] = this.#outages.values()
    const first = [...recipes.values(), ...unhealthy].find(({ healthy }) => !healthy)
    return healthFrom(first?.reason, {
      recipes: Object.fromEntries(recipes),
      held: leases.filter((lease) => lease.checkLease()).length,
      unhealthy,
      ...(this.#outages.size === 0 ? {} : { unreachable: reasonOf(outage) }),
    })
  }

  /** @internal The server listens. */
  start(): void {
    this.#isStarted = true
    for (const { recipe } of this.#parts.values()) startIfAble(recipe)
  }

  /** @internal No more ticks. Requests in progress go on, with their leases and with the leadership. */
  endSchedules(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#schedulesEnded = this.#stopAll((recipe) => recipe instanceof Schedule)
  }

  /** @internal No request is in progress any more. Never rejects: what could not be ended in time is logged. */
  async close(): Promise<void> {
    this.endSchedules()
    this.#isClosed = true
    await this.#schedulesEnded
    await Promise.all([
      this.#stopAll((recipe) => !(recipe instanceof Schedule)),
      this.#withinLimit('run', Promise.allSettled([...this.#runs])),
    ])
    const closing = Promise.allSettled(
      Array.from(this.#living(), (lease) => this.#ended(lease.settings.name, () => lease.close())),
    )
    await this.#withinLimit('release', closing)
    if (!this.#settings.closeStore) return
    await this.#ended('the store', async () => await this.store.close())
  }

  get #stopTimeout(): { readonly stopTimeout: number } {
    return { stopTimeout: this.#settings.stopTimeout }
  }

  #add<R extends AddedRecipe>(name: string, recipe: R, stop = (): Promise<void> => recipe.stop()): R {
    if (this.#parts.has(name)) {
      const message = `the name '${shownText(name)}' is in use in this server already: give each schedule and election a name of its own`
      throw new LeaseConfigurationError(message, { leaseName: name })
    }
    if (recipe instanceof Recipe) {
      recipe
        .on('unreachable', ({ cause }: { readonly cause: unknown }) => this.#outages.set(name, cause))
        .on('reachable', () => this.#outages.delete(name))
    }
    this.#parts.set(name, { recipe, stop })
    if (this.#isStarted) startIfAble(recipe)
    return recipe
  }

  async #stopAll(isMeant: (recipe: AddedRecipe) => boolean): Promise<void> {
    const meant = [...this.#parts].filter(([, { recipe }]) => isMeant(recipe))
    await Promise.all(meant.map(([name, { stop }]) => this.#ended(name, stop)))
  }

  /** A failure is logged, and does not hold up what ends next. */
  async #ended(what: string, end: () => unknown): Promise<void> {
    try {
      await end()
    } catch (error) {
      this.#warn(what, error)
    }
  }

  /** If the options of the transfer are refused, the election has not ended yet. */
  async #stopElection(name: string, election: LeaderElection, transfer: string | undefined): Promise<void> {
    try {
      await election.stop({ transfer })
    } catch (error) {
      if (election.closed.aborted) throw error
      this.#warn(`the leadership of ${name}`, error)
      await election.stop()
    }
  }

  async #withinLimit(what: 'run' | 'release', ended: Promise<unknown>): Promise<void> {
    const { stopTimeout, defaults } = this.#settings
    const isInTime = await inTime(
      defaults.clock ?? systemClock,
      stopTimeout,
      ended.then(() => true),
      () => false,
    )
    if (isInTime) return
    const line = what === 'run' ? 'work of run has not ended' : 'leases were not released'
    this.#settings.log.warn(`${line} within ${stopTimeout} ms: the server closes nevertheless`)
  }

  #warn(what: string, error: unknown): void {
    logSafely(fromFastifyLogger(this.#settings.log), 'warn', `${what} could not be ended: ${reasonOf(error)}`, error)
  }

  *#living(): Generator<StoreLease> {
    for (const kept of this.#leases) {
      const lease = kept.deref()
      if (lease !== undefined) yield lease
    }
  }

  #withLogger<O extends WithLog>({ log = this.#settings.log, ...options }: O): Omit<O, 'log'> & { logger: Logger } {
    // It has the arguments in another order.
    if ((options as Pick<CreateLeaseOptions, 'logger'>).logger !== undefined) {
      throw new LeaseConfigurationError('@leasehold/fastify has no option logger: use log, such as request.log')
    }
    return { ...options, logger: fromFastifyLogger(log) }
  }

  #throwIf(isOver: boolean): void {
    if (!isOver) return
    throw new LeaseUnavailableError('the server is closing, and takes no more leases')
  }
}

function startIfAble(recipe: AddedRecipe): void {
  if (!recipe.closed.aborted) recipe.start?.()
}

function isSubject(recipe: object): recipe is HealthSubject {
  return health in recipe
}

/** The options of the lease, and those of `acquire`. */
function divided({ ...options }: RunOptions): [LeaseOptions, AcquireOptions] {
  const isOfLease = (option: string): boolean => option === 'log' || Object.hasOwn(createLeaseOptionNames, option)
  const entries = Object.entries(options)
  return [
    Object.fromEntries(entries.filter(([option]) => isOfLease(option))),
    Object.fromEntries(entries.filter(([option]) => !isOfLease(option))),
  ]
}
