import { type Clock, LeaseConfigurationError, type Logger, systemClock } from '@leasehold/core'
import { logSafely } from '@leasehold/core/internal'
import type { Schedule } from '@leasehold/recipes'
import { SetMetadata } from '@nestjs/common'
import type { DiscoveryService } from '@nestjs/core'
import { type DiscoveredMethod, faultAt, metadataOf } from './discovered-methods.js'
import { createSchedule, nameOf, type ScheduledMethod } from './leased-cron.js'
import type { GuardCronOptions } from './leasehold-options.js'
import type { Leases } from './leases.js'

/** The metadata that the decorators of `@nestjs/schedule` leave at a method, in its versions 6 and 12. */
const TYPE = 'SCHEDULER_TYPE'
const CRON_OPTIONS = 'SCHEDULE_CRON_OPTIONS'
const CRON_TYPE = 1
const OTHER_TYPES: Readonly<Record<number, string>> = { 2: '@Timeout', 3: '@Interval' }

const EVERY_INSTANCE = '@leasehold/nestjs every instance'

/** The names for timetables that the package `cron` knows, and `Schedule` does not. */
const PRESETS: Readonly<Record<string, string>> = {
  '@secondly': '* * * * * *',
  '@minutely': '0 * * * * *',
  '@weekdays': '0 0 0 * * 1-5',
  '@weekends': '0 0 0 * * 0,6',
}

/** The options of `@Cron`, as its metadata keeps them. */
interface CronOptions {
  readonly cronTime: unknown
  readonly name?: string
  readonly timeZone?: string
  readonly utcOffset?: number
  readonly disabled?: boolean
  readonly initialDelay?: number
  readonly unrefTimeout?: boolean
}

/** The part of a `CronJob` that its users call to control it. */
interface CronJob {
  start(): unknown
  stop(): unknown
  fireOnTick(): unknown
}

/** A job of `@nestjs/schedule`, from the start of the application on. Its `ref` is made when the application has started. */
interface CronEntry {
  target: () => unknown
  options: CronOptions
  readonly ref?: CronJob
}

/** Leaves a `@Cron` method as it is, with `guardCron`: it runs on every instance, such as to refresh a cache in memory. */
export function EveryInstance(): MethodDecorator {
  return SetMetadata(EVERY_INSTANCE, true)
}

/** The `@Cron` methods to guard. Throws a `LeaseConfigurationError` that names the class and the method. */
export function guardedCrons(methods: readonly DiscoveredMethod[], options: GuardCronOptions): ScheduledMethod[] {
  return methods.flatMap((method) => {
    const cron = cronOptionsOf(method)
    // Nest warns of methods that are not static, and does not run them.
    if (cron === undefined || !method.isStatic || metadataOf(EVERY_INSTANCE, method) === true) return []
    const decorator = '@Cron'
    const { cronTime, unrefTimeout = false } = cron
    if (typeof cronTime !== 'string') {
      const message =
        'guardCron takes cron expressions, not dates: use @WithLease or Once there, and @EveryInstance() here'
      throw faultAt(method, decorator, message)
    }
    const timetable = { cron: PRESETS[cronTime] ?? cronTime, timeZone: timeZoneOf(method, cron) }
    return [
      {
        method,
        decorator,
        name: nameOf(method, decorator, cron.name),
        options: { ...options, ...timetable, keepAlive: !unrefTimeout },
      },
    ]
  })
}

/** The methods that a guard of `@Cron` methods leaves as they are, such as `Cache.refresh (@Interval)`. */
export function unguardedMethods(methods: readonly DiscoveredMethod[]): string[] {
  return methods.flatMap((method) => {
    const decorator = OTHER_TYPES[metadataOf<number>(TYPE, method) ?? 0]
    return decorator === undefined ? [] : [`${method.place} (${decorator})`]
  })
}

/**
 * Takes the jobs of `@Cron` methods over. `@nestjs/schedule` registers them when the modules are initialised, and starts them
 * when the application has started. In between they are disabled, so that none of them ever runs a method by itself.
 */
export class CronGuard {
  readonly #entries: Readonly<Record<string, CronEntry>>
  readonly #guarded: readonly { readonly job: GuardedJob; readonly entry: CronEntry; readonly found: CronOptions }[]
  /** The metadata of the guarded methods: those of a job are the same object. */
  readonly #taken = new Set<CronOptions>()

  /** To be called after the modules are initialised. Throws a `LeaseConfigurationError` if there is nothing to take over. */
  constructor(scheduled: readonly ScheduledMethod[], discovery: DiscoveryService, leases: Leases, logger: Logger) {
    const entries = entriesOf(discovery)
    if (entries === undefined && scheduled[0] !== undefined) {
      throw faultAt(
        scheduled[0].method,
        '@Cron',
        'guardCron finds no ScheduleModule of @nestjs/schedule 6 to 12: import ScheduleModule.forRoot()',
      )
    }
    this.#entries = entries ?? {}
    const left = new Set(Object.values(this.#entries))
    this.#guarded = scheduled.flatMap((one) => {
      const options = cronOptionsOf(one.method) as CronOptions
      this.#taken.add(options)
      const entry = [...left].find((candidate) => candidate.options === options)
      // Nest runs no @Cron methods: ScheduleModule.forRoot({ cronJobs: false }).
      if (entry === undefined) return []
      left.delete(entry)
      const job = new GuardedJob(one, leases, logger)
      disable(entry, job)
      return [{ job, entry, found: options }]
    })
    // Nest registers a method once more for each alias of its provider.
    for (const entry of left) {
      const first = this.#guarded.find(({ found }) => found === entry.options)
      if (first !== undefined) disable(entry, first.job)
    }
  }

  /** The names of the schedules. */
  get names(): readonly string[] {
    return this.#guarded.map(({ job }) => job.name)
  }

  /** Starts the schedules, once `@nestjs/schedule` has made its jobs. */
  start(clock: Clock = systemClock): void {
    for (const { ref, options } of Object.values(this.#entries)) {
      if (!this.#taken.has(options)) continue
      void ref?.stop()
      throw new LeaseConfigurationError(
        `guardCron: the job of '${String(options.cronTime)}' was registered too late to guard it: import ScheduleModule.forRoot() in a module that Nest initialises first`,
      )
    }
    for (const { job, entry } of this.#guarded) job.takeOver(entry.ref, clock)
  }
}

/** Keeps Nest from starting a job, and from calling its method. */
function disable(entry: CronEntry, job: GuardedJob): void {
  entry.options = { ...entry.options, disabled: true }
  entry.target = () => job.runNow()
}

/** The schedule in the place of one job. The job stays in the `SchedulerRegistry`, and controls the schedule of this instance. */
class GuardedJob {
  readonly #scheduled: ScheduledMethod
  readonly #leases: Leases
  readonly #logger: Logger
  #schedule: Schedule
  #state: 'idle' | 'started' | 'stopped' = 'idle'

  constructor(scheduled: ScheduledMethod, leases: Leases, logger: Logger) {
    this.#scheduled = scheduled
    this.#leases = leases
    this.#logger = logger
    this.#schedule = createSchedule(scheduled, leases)
  }

  get name(): string {
    return this.#scheduled.name
  }

  takeOver(job: CronJob | undefined, clock: Clock): void {
    if (job !== undefined) {
      job.start = () => this.#start()
      job.stop = () => this.#stop()
      job.fireOnTick = () => this.runNow()
      Object.defineProperty(job, 'isActive', { get: () => this.#state === 'started' })
    }
    const { disabled = false, initialDelay = 0 } = cronOptionsOf(this.#scheduled.method) as CronOptions
    if (disabled) return
    if (initialDelay > 0) clock.schedule(initialDelay, () => this.#state === 'idle' && this.#start())
    else this.#start()
  }

  /** Asks for a run on one of the instances. */
  async runNow(): Promise<void> {
    try {
      await this.#schedule.runNow()
    } catch (error) {
      logSafely(this.#logger, 'error', `${this.#scheduled.method.place}: it could not be run by hand`, error)
    }
  }

  #start(): void {
    if (this.#state === 'started') return
    // A schedule that was stopped does not start again.
    if (this.#state === 'stopped') this.#schedule = createSchedule(this.#scheduled, this.#leases)
    this.#state = 'started'
    this.#schedule.start()
  }

  /** Resolves when the work in progress has ended. */
  async #stop(): Promise<void> {
    if (this.#state !== 'started') {
      this.#state = 'stopped'
      return
    }
    this.#state = 'stopped'
    try {
      await this.#schedule.stop()
    } catch (error) {
      logSafely(this.#logger, 'error', `${this.#scheduled.method.place}: it did not stop in time`, error)
    }
  }
}

function cronOptionsOf(method: DiscoveredMethod): CronOptions | undefined {
  return metadataOf(TYPE, method) === CRON_TYPE ? metadataOf<CronOptions>(CRON_OPTIONS, method) : undefined
}

/** The registered jobs of `@nestjs/schedule`, by their names. It does not export the class that has them. */
function entriesOf(discovery: DiscoveryService): Readonly<Record<string, CronEntry>> | undefined {
  for (const { instance } of discovery.getProviders()) {
    if (Object(instance).constructor?.name !== 'SchedulerOrchestrator') continue
    const { cronJobs } = instance as { readonly cronJobs?: unknown }
    if (typeof cronJobs === 'object' && cronJobs !== null) return cronJobs as Record<string, CronEntry>
  }
  return undefined
}

/** As the package `cron` does: the time zone of the machine unless given. */
function timeZoneOf(method: DiscoveredMethod, { timeZone, utcOffset }: CronOptions): string {
  if (utcOffset === undefined || utcOffset === null) {
    return timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone
  }
  // Minutes. The sign of these names is that of POSIX: Etc/GMT-2 is two hours ahead of UTC.
  if (utcOffset % 60 === 0)
    return utcOffset === 0 ? 'UTC' : `Etc/GMT${utcOffset > 0 ? '-' : '+'}${Math.abs(utcOffset / 60)}`
  throw faultAt(
    method,
    '@Cron',
    `guardCron takes a utcOffset in whole hours, not ${utcOffset} minutes: give a timeZone`,
  )
}
