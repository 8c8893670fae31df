import { loadRecorder, toEngineRecorder } from '../engine/engine-recorder.js'
import { loadFence } from '../engine/self-fence.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseError, type LeaseErrorDetails } from '../errors/lease-error.js'
import { LeaseTimeoutError } from '../errors/lease-timeout-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { checkOptionNames } from '../errors/option-names.js'
import { reasonOf, shownValue } from '../errors/shown-value.js'
import { missingMethods } from '../lease/is-lease.js'
import type { Lease } from '../lease/lease.js'
import type { LeaseEnvironment } from '../lease/lease-environment.js'
import type { LeaseFactory } from '../lease/lease-factory.js'
import type { LeaseRecorder } from '../lease/lease-recorder.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import { createOwner } from '../settings/owner.js'
import { checkLeaseName, checkOwner } from '../store/lease-name.js'
import type { LeaseStore } from '../store/lease-store.js'
import { isStoreLease } from '../store-lease/store-lease.js'
import type { Clock } from '../time/clock.js'
import { inTime, settledInTime } from '../time/in-time.js'
import { keptAlive } from '../time/keep-alive.js'
import { systemClock } from '../time/system-clock.js'
import { guardClock } from '../user-code/guarded-calls.js'
import { defaultLogger, type Logger, logSafely } from '../user-code/logger.js'
import type { ConfigSource } from './config-source.js'
import { fileOfSetting, type LeaseBlock, readLeaseBlock, recorderFrom, toLeaseSettings } from './lease-block.js'
import { loadFactory } from './load-factory.js'
import { placeText, withPlace } from './setting-place.js'
import { hasHeartbeatThread, ThreadedLeases } from './threaded-leases.js'
import { unknownKeys } from './unknown-keys.js'

/** How long a lease may take to be made, and a store to be opened, in milliseconds. */
const MAKE_TIMEOUT = 30_000

/** For how long `close` waits for leases that do not end, in milliseconds, and after that for stores. */
const CLOSE_LEASES_TIMEOUT = 8_000
const CLOSE_STORES_TIMEOUT = 2_000

/** A store of a configuration, with the settings for leases on it. */
export interface ConfiguredStore {
  /** Shared by all leases with the same options; the provider closes it. */
  readonly store: LeaseStore
  /** The settings of the block. `options` is the whole block, its keys in the camel case of the code. */
  readonly settings: LeaseSettings
  readonly clock: Clock
  readonly logger: Logger
  /** Absent unless the provider was given a source of its own. */
  readonly random: (() => number) | undefined
  /** The recorder of the block, or of the provider; absent unless there is one. */
  readonly recorder: LeaseRecorder | undefined
}

/** The lease that a factory is to make. */
type MadeFor = Required<Pick<LeaseErrorDetails, 'leaseName' | 'owner'>>

/** A lease that a factory made, with its settings. */
interface Made {
  readonly lease: Lease
  readonly settings: LeaseSettings
  readonly recorder: LeaseRecorder | undefined
}

/** Values by key: under construction, or finished. */
type Kept<T> = Map<string, Promise<T>>

/** Makes leases from a configuration, one instance for each name, path and owner, and ends them all together. */
export class LeaseProvider implements AsyncDisposable {
  static readonly #attached = new WeakMap<object, LeaseProvider>()
  readonly #config: ConfigSource | object
  readonly #factories: Readonly<Record<string, LeaseFactory>>
  /** For the leases; the provider itself uses {@link LeaseProvider.#timers}. */
  readonly #clock: Clock
  readonly #timers: Clock
  readonly #logger: Logger
  readonly #random: (() => number) | undefined
  readonly #recorder: LeaseRecorder | undefined
  readonly #owner = createOwner()
  readonly #leases: Kept<Lease> = new Map()
  readonly #stores: Kept<LeaseStore> = new Map()
  /** Those that blocks of the configuration ask for: blocks with the same options share one. */
  readonly #recorders: Kept<LeaseRecorder> = new Map()
  readonly #threaded = new ThreadedLeases()
  readonly #checked = new Set<string>()
  #closing: Promise<void> | undefined

  /** `factories`: names that the `lease-class` of a block may use, beside modules. */
  constructor(
    config: ConfigSource | object,
    factories: Readonly<Record<string, LeaseFactory>> = {},
    environment: LeaseEnvironment = {},
  ) {
    checkOptionNames('LeaseProvider', environment, { clock: true, logger: true, random: true, recorder: true })
    const { clock = systemClock, logger = defaultLogger, random, recorder } = environment
    if (recorder !== undefined) toEngineRecorder(recorder)
    if (typeof config !== 'object' || config === null) {
      throw new LeaseConfigurationError(`config must be a configuration or a plain object, not ${shownValue(config)}`)
    }
    this.#config = config
    this.#factories = factories
    this.#clock = clock
    this.#timers = guardClock(clock, (error) =>
      logSafely(this.#logger, 'error', 'the clock of a provider failed', error),
    )
    this.#logger = logger
    this.#random = random
    this.#recorder = recorder
  }

  /**
   * The provider that was attached to an actor system, as in Akka's `LeaseProvider.Get(system)`. Throws a
   * `LeaseConfigurationError` if no provider is attached to it.
   */
  static get(system: object): LeaseProvider {
    const provider = LeaseProvider.#attached.get(system)
    if (provider !== undefined) return provider
    throw new LeaseConfigurationError(
      'no LeaseProvider is attached to this actor system: call provider.attach(actor.system) before actor.start()',
    )
  }

  /**
   * Makes this the provider that {@link LeaseProvider.get} returns for an actor system, such as the `system` of an XState
   * actor. Any object can be a system; it is not changed. Throws a `LeaseConfigurationError` if another provider is
   * attached to it already.
   */
  attach(system: object): this {
    if ((typeof system !== 'object' && typeof system !== 'function') || system === null) {
      throw new LeaseConfigurationError(`the actor system must be an object, not ${shownValue(system)}`)
    }
    if ((LeaseProvider.#attached.get(system) ?? this) !== this) {
      throw new LeaseConfigurationError(
        'another LeaseProvider is attached to this actor system: use one provider for all leases of a system',
      )
    }
    LeaseProvider.#attached.set(system, this)
    return this
  }

  /**
   * The lease on `name`, with the settings at `configPath` (falling back to `leasehold.lease`); the owner is this
   * provider's own unless given. The module that `lease-class` names is loaded: a package, a path relative to the file, or
   * `module#export`. A key that nothing reads is a warning.
   *
   * Rejects with a typed error, and the next call tries again: a `LeaseNameError` or a `LeaseConfigurationError` that
   * says what is wrong, also where the factory returns anything that is not a `Lease`; a `LeaseUnavailableError` once
   * the provider is closed; the `LeaseError` that the factory fails with, or a `LeaseUnavailableError` whose `cause` is
   * the failure; a `LeaseTimeoutError` where the lease is not made within thirty seconds.
   */
  async getLease(name: string, configPath: string, owner: string = this.#owner): Promise<Lease> {
    const details = { leaseName: name, owner }
    this.#checkOpen(details)
    checkLeaseName(name)
    checkOwner(owner)
    checkConfigPath(configPath, details)
    const lease = await this.#keep(this.#leases, JSON.stringify([name, configPath, owner]), async () => {
      const made = await this.#makeInTime(`lease '${name}' of '${configPath}'`, configPath, details, [])
      return made.lease
    })
    this.#checkOpen(details)
    return lease
  }

  /**
   * The store of the block at `configPath`, for code that makes leases of its own, such as the recipes. `name`: the name of
   * the lease, or what the names of the leases begin with. `optionKeys`: the keys of the block that this code reads, in camel
   * case; they are not reported as unknown. Rejects as `getLease` does, and with a `LeaseConfigurationError` where the
   * `lease-class` makes leases without a `LeaseStore`.
   */
  async getStore(name: string, configPath: string, optionKeys: readonly string[] = []): Promise<ConfiguredStore> {
    const details = { leaseName: name, owner: this.#owner }
    this.#checkOpen(details)
    checkLeaseName(name)
    checkConfigPath(configPath, details)
    const what = `the store of '${configPath}'`
    const { lease, settings, recorder } = await this.#makeInTime(what, configPath, details, optionKeys)
    this.#checkOpen(details)
    const [clock, logger, random] = [this.#clock, this.#logger, this.#random]
    return { store: storeOf(lease, configPath, details), settings, clock, logger, random, recorder }
  }

  /**
   * Releases all leases (holders are notified with `closed`), then closes the stores. Takes at most ten seconds, even if a
   * lease or a store hangs. Never rejects: a failure is logged. A lease that could not be released in time expires.
   */
  close(): Promise<void> {
    this.#closing ??= keptAlive(this.#timers, this.#close())
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #checkOpen(details: LeaseErrorDetails): void {
    if (this.#closing !== undefined) throw new LeaseUnavailableError('this provider is closed', details)
  }

  /** A `LeaseConfigurationError` also names the file and the line. `what`: the words for the error if it takes too long. */
  #makeInTime(what: string, path: string, lease: MadeFor, optionKeys: readonly string[]): Promise<Made> {
    const made = this.#make(path, lease, optionKeys).catch((error: unknown) => {
      throw error instanceof LeaseConfigurationError ? withPlace(error, this.#config, path, lease.leaseName) : error
    })
    return keptAlive(this.#timers, this.#inTime(made, what, lease))
  }

  /** `outer`: the paths of the blocks whose stores are made of this one. */
  async #make(
    configPath: string,
    details: MadeFor,
    optionKeys: readonly string[],
    outer: readonly string[] = [],
  ): Promise<Made> {
    const { leaseName: name, owner } = details
    const block = readLeaseBlock(this.#config, configPath)
    const file = fileOfSetting(this.#config, configPath, 'lease-class')
    const factory = await loadFactory(block.leaseClass, { path: configPath, file, factories: this.#factories })
    this.#warnOfUnknownKeys(name, configPath, factory, optionKeys)
    const settings = toLeaseSettings(name, owner, block)
    if (settings.selfFence !== undefined) await loadFence()
    const recorder = await this.#recorderOf(block)
    const make: LeaseFactory = hasHeartbeatThread(block, configPath)
      ? (own, context) => this.#threaded.create(own, factory, this.#factories, file, context)
      : factory
    const made: unknown = await this.#call(make, settings, [...outer, configPath], details, recorder)
    const missing = missingMethods(made)
    if (missing.length === 0) return { lease: made as Lease, settings, recorder }
    const lacks = typeof made === 'object' && made !== null ? ` without ${missing.join(', ')}` : ''
    throw new LeaseConfigurationError(
      `the lease-class of '${configPath}' made ${shownValue(made)}${lacks}, which is no Lease: it must return an object ` +
        'with the methods acquire, release and checkLease, such as an instance of a subclass of Lease',
      details,
    )
  }

  /** The recorder that the block asks for; else the one of the provider. */
  #recorderOf(block: LeaseBlock): Promise<LeaseRecorder> | LeaseRecorder | undefined {
    const options = recorderFrom(block)
    if (options === undefined) return this.#recorder
    return this.#keep(this.#recorders, JSON.stringify(options), () => loadRecorder(options))
  }

  async #call(
    factory: LeaseFactory,
    settings: LeaseSettings,
    paths: readonly string[],
    details: MadeFor,
    recorder: LeaseRecorder | undefined,
  ): Promise<unknown> {
    const configPath = paths.at(-1) ?? ''
    try {
      return await factory(settings, {
        configPath,
        clock: this.#clock,
        logger: this.#logger,
        random: this.#random,
        recorder,
        share: (key, open) => this.#share(key, open, details),
        storeAt: async (path) => await this.#storeAt(path, details, paths),
      })
    } catch (error) {
      if (error instanceof LeaseError) throw error
      const place = placeText(this.#config, configPath, settings.name, [...configPath.split('.'), 'lease-class'])
      const message = `the lease-class of '${configPath}' failed: ${reasonOf(error)}${place}`
      throw new LeaseUnavailableError(message, { ...details, cause: error })
    }
  }

  async #storeAt(path: string, details: MadeFor, outer: readonly string[]): Promise<LeaseStore> {
    checkConfigPath(path, details)
    if (outer.includes(path)) {
      const message = `the store of '${path}' cannot be made of itself: give that block a lease-class of its own`
      throw new LeaseConfigurationError(message, details)
    }
    const { lease } = await this.#make(path, details, [], outer)
    return storeOf(lease, path, details)
  }

  /** Throws once the provider is closed, because nothing would close a store that is opened then. */
  async #share<S extends LeaseStore>(key: string, open: () => S | Promise<S>, details: LeaseErrorDetails): Promise<S> {
    this.#checkOpen(details)
    return await this.#keep(this.#stores, key, () => {
      const opened = (async () => await open())()
      const inTime = this.#inTime(opened, `the store shared as '${shownValue(key)}'`, details)
      // A store that opens too late is closed, because nobody uses it.
      inTime.catch(() =>
        opened.then(
          (store) => this.#end(store, (late) => late.close()),
          () => {},
        ),
      )
      return inTime
    })
  }

  /** Warns once for each path, however many leases are made from it. */
  #warnOfUnknownKeys(lease: string, block: string, factory: LeaseFactory, others: readonly string[]): void {
    if (this.#checked.has(block)) return
    this.#checked.add(block)
    for (const { path, warning } of unknownKeys(this.#config, block, factory.optionKeys, others)) {
      // Several blocks have the same fallback.
      if (this.#checked.has(warning)) continue
      this.#checked.add(warning)
      logSafely(this.#logger, 'warn', warning + placeText(this.#config, path.slice(0, -1).join('.'), lease, path))
    }
  }

  /** A value under construction is kept at once, so that two concurrent requests share it. A failure is not kept. */
  #keep<T extends K, K>(kept: Kept<K>, key: string, make: () => Promise<T>): Promise<T> {
    const known = kept.get(key)
    // All values under one key have the same type.
    if (known !== undefined) return known as Promise<T>
    const made = make()
    kept.set(key, made)
    made.catch(() => kept.delete(key))
    return made
  }

  #inTime<T>(made: Promise<T>, what: string, details: LeaseErrorDetails): Promise<T> {
    const message = `${what} was not made within ${MAKE_TIMEOUT / 1_000} s: try again, or mend its factory`
    return inTime(this.#timers, MAKE_TIMEOUT, made, () => {
      throw new LeaseTimeoutError(message, details)
    })
  }

  async #close(): Promise<void> {
    await this.#endAll(this.#leases.values(), CLOSE_LEASES_TIMEOUT, (lease) =>
      isStoreLease(lease) ? lease.close() : lease.release(),
    )
    const stores = [...this.#stores.values(), this.#threaded]
    await this.#endAll<Pick<LeaseStore, 'close'>>(stores, CLOSE_STORES_TIMEOUT, (store) => store.close())
  }

  /** Ends all values side by side; those that take too long are left behind. */
  async #endAll<T>(things: Iterable<T | Promise<T>>, limit: number, end: (thing: T) => Promise<unknown>) {
    const ends = Array.from(things, (thing) => this.#end(thing, end))
    if (ends.length > 0) await settledInTime(this.#timers, limit, ends)
  }

  /** Never rejects: failures are logged. */
  async #end<T>(thing: T | Promise<T>, end: (thing: T) => Promise<unknown>): Promise<void> {
    try {
      await end(await thing)
    } catch (error) {
      logSafely(this.#logger, 'warn', 'a lease or a store could not be closed in order', error)
    }
  }
}

function storeOf(lease: Lease, configPath: string, details: LeaseErrorDetails): LeaseStore {
  if (isStoreLease(lease)) return lease.store
  throw new LeaseConfigurationError(
    `the lease-class of '${configPath}' makes leases without a store: name one of a provider, such as @leasehold/redis`,
    details,
  )
}

function checkConfigPath(path: unknown, details: LeaseErrorDetails): void {
  if (typeof path === 'string') return
  throw new LeaseConfigurationError(
    `the config path must be a text such as 'leasehold.lease', not ${shownValue(path)}`,
    details,
  )
}
