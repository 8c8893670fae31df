import { defaultLogger, type Logger, systemClock } from '@leasehold/core'
import { logSafely } from '@leasehold/core/internal'
import type { Schedule } from '@leasehold/recipes'
import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleInit,
} from '@nestjs/common'
import type { DiscoveryService, MetadataScanner } from '@nestjs/core'
import { discoverMethods } from './discovered-methods.js'
import { CronGuard, guardedCrons, unguardedMethods } from './guarded-cron.js'
import { checkNames, createSchedule, leasedCrons } from './leased-cron.js'
import type { Leases } from './leases.js'
import { createElections, electionsOf } from './on-leader.js'
import { checkLeasedMethods } from './with-lease.js'

/** An application may call `enableShutdownHooks()` just after `listen()`. Milliseconds. */
const TIME_FOR_HOOKS = 1_000

/** The signals with which platforms end a process. */
const END_SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Starts the decorated methods of an application with it, and ends them before it. */
export class ApplicationLeases
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  readonly #leases: Leases
  readonly #discovery: DiscoveryService
  readonly #scanner: MetadataScanner
  readonly #logger: Logger
  #schedules: readonly Schedule[] = []
  #elections: { start(): void } | undefined
  #guard: CronGuard | undefined
  #cancelLook = (): void => {}

  constructor(leases: Leases, discovery: DiscoveryService, scanner: MetadataScanner) {
    this.#leases = leases
    this.#discovery = discovery
    this.#scanner = scanner
    this.#logger = leases.options.logger ?? defaultLogger
  }

  /** Throws a `LeaseConfigurationError` that names the class and the method, before anything has started. */
  onModuleInit(): void {
    const methods = discoverMethods(this.#discovery, this.#scanner)
    const { guardCron = false } = this.#leases.options
    const leased = leasedCrons(methods)
    const guarded = guardCron === false ? [] : guardedCrons(methods, guardCron === true ? {} : guardCron)
    checkNames([...leased, ...guarded], electionsOf(methods))
    checkLeasedMethods(methods, this.#leases)
    this.#elections = createElections(methods, this.#leases, this.#logger)
    this.#schedules = leased.map((scheduled) => createSchedule(scheduled, this.#leases))
    if (guardCron === false) return
    this.#guard = new CronGuard(guarded, this.#discovery, this.#leases, this.#logger)
    this.#sayWhatIsGuarded(this.#guard.names, unguardedMethods(methods))
  }

  onApplicationBootstrap(): void {
    const { clock = systemClock } = this.#leases.options
    this.#guard?.start(clock)
    for (const schedule of this.#schedules) schedule.start()
    this.#elections?.start()
    this.#cancelLook = clock.schedule(TIME_FOR_HOOKS, () => this.#warnWithoutHooks())
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#cancelLook()
    await this.#leases.drain()
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#leases.close()
  }

  #sayWhatIsGuarded(guarded: readonly string[], others: readonly string[]): void {
    if (guarded.length === 0) {
      logSafely(this.#logger, 'warn', 'guardCron: Nest runs no @Cron method here, so there is nothing to guard')
      return
    }
    const left = others.length === 0 ? '' : `; on every instance still: ${others.join(', ')}`
    logSafely(this.#logger, 'info', `guardCron: on one instance only: ${guarded.join(', ')}${left}`)
  }

  #warnWithoutHooks(): void {
    if (END_SIGNALS.some((signal) => process.listenerCount(signal) > 0)) return
    const message =
      'the shutdown hooks are off: when this process ends, other instances wait until its leases expire. Call ' +
      'app.enableShutdownHooks()'
    logSafely(this.#logger, 'warn', message)
  }
}
