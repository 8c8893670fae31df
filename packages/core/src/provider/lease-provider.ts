import type { Clock } from '../clock.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import type { Lease } from '../lease.js'
import { checkLeaseName, checkOwner } from '../lease-name.js'
import { defaultLogger, type Logger } from '../logger.js'
import { createOwner } from '../owner.js'
import type { LeaseStore } from '../store/lease-store.js'
import { type LeaseEnvironment, StoreLease } from '../store-lease.js'
import { systemClock } from '../system-clock.js'
import { type ConfigSource, keysOfBlock, originOfKey, readLeaseBlock, toLeaseSettings } from './lease-block.js'
import type { LeaseFactory } from './lease-factory.js'
import { loadFactory } from './load-factory.js'
import { unknownKeys } from './unknown-keys.js'

/** For how long `close` waits for stores that do not answer, in milliseconds. */
const CLOSE_TIMEOUT = 10_000

/** Makes leases from a configuration, one instance for each name, path and owner, and ends them all together. */
export class LeaseProvider implements AsyncDisposable {
  readonly #config: ConfigSource | object
  readonly #factories: Readonly<Record<string, LeaseFactory>>
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #owner = createOwner()
  readonly #leases = new Map<string, Promise<Lease>>()
  readonly #stores = new Map<string, Promise<LeaseStore>>()
  readonly #checked = new Set<string>()
  #closing: Promise<void> | undefined

  /** `factories`: what the `lease-class` of a block may name, beside modules. */
  constructor(
    config: ConfigSource | object,
    factories: Readonly<Record<string, LeaseFactory>> = {},
    { clock = systemClock, logger = defaultLogger }: LeaseEnvironment = {},
  ) {
    this.#config = config
    this.#factories = factories
    this.#clock = clock
    this.#logger = logger
  }

  /**
   * The lease on `name`, with the settings at `configPath` (falling back to `leasehold.lease`); the owner is this
   * provider's own unless given. What `lease-class` names is loaded: a package, a path relative to the file, or
   * `module#export`. A key that nothing reads is a warning. Rejects with a `LeaseNameError` or a `LeaseConfigurationError` that says what is wrong,
   * with a `LeaseUnavailableError` once the provider is closed, and with what the factory rejects with.
   */
  async getLease(name: string, configPath: string, owner: string = this.#owner): Promise<Lease> {
    if (this.#closing !== undefined)
      throw new LeaseUnavailableError('this provider is closed', { leaseName: name, owner })
    checkLeaseName(name)
    checkOwner(owner)
    const key = JSON.stringify([name, configPath, owner])
    return await this.#keep(this.#leases, key, () => this.#make(name, configPath, owner))
  }

  /**
   * Frees what is held (a holder is told `closed`), then closes the stores: within ten seconds, whatever the stores do.
   * What could not be freed by then expires.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #make(name: string, configPath: string, owner: string): Promise<Lease> {
    const block = readLeaseBlock(this.#config, configPath)
    const file = originOfKey(this.#config, configPath, 'lease-class')
    const factory = await loadFactory(block.leaseClass, { path: configPath, file, factories: this.#factories })
    this.#warnOfUnknownKeys(configPath, factory)
    return await factory(toLeaseSettings(name, owner, block), {
      configPath,
      clock: this.#clock,
      logger: this.#logger,
      share: (key, open) => this.#keep(this.#stores, key, async () => await open()),
    })
  }

  /** Once for each path, however many leases it makes. */
  #warnOfUnknownKeys(path: string, { optionKeys }: LeaseFactory): void {
    if (this.#checked.has(path)) return
    this.#checked.add(path)
    for (const warning of unknownKeys(path, keysOfBlock(this.#config, path), optionKeys)) this.#logger.warn(warning)
  }

  /** What is being made is kept at once, so that two who ask together get one; a failure is not kept. */
  #keep<T extends K, K>(kept: Map<string, Promise<K>>, key: string, make: () => Promise<T>): Promise<T> {
    const known = kept.get(key)
    // A key stands for one kind of thing: what is kept under it was made by the same maker.
    if (known !== undefined) return known as Promise<T>
    const made = make()
    kept.set(key, made)
    made.catch(() => kept.delete(key))
    return made
  }

  async #close(): Promise<void> {
    await this.#inTime([...this.#leases.values()], async (lease) => {
      await (lease instanceof StoreLease ? lease.close() : lease.release())
    })
    await this.#inTime([...this.#stores.values()], (store) => store.close())
  }

  /** Ends all of them side by side; what fails is logged, what takes too long is left. */
  async #inTime<T>(things: readonly Promise<T>[], end: (thing: T) => Promise<void>): Promise<void> {
    if (things.length === 0) return
    const ends = things.map(async (thing) => {
      try {
        await end(await thing)
      } catch (error) {
        this.#logger.warn('a lease or a store could not be closed in order', error)
      }
    })
    let cancel = (): void => {}
    const timeout = new Promise<void>((resolve) => {
      cancel = this.#clock.schedule(CLOSE_TIMEOUT, resolve)
    })
    await Promise.race([Promise.all(ends), timeout])
    cancel()
  }
}
