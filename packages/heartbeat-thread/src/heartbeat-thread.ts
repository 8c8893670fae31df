import { LeaseConfigurationError, type LeaseStore, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { checkFault, faultOfDuration, keptAlive, reasonOf } from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import { type HeartbeatThreadOptions, ThreadLink } from './thread-link.js'
import { ThreadStore } from './thread-store.js'

/** A store, named as a configuration names it. */
export interface ThreadStoreOptions {
  /** The module that makes its leases, as the `lease-class` of a configuration: `package`, `./path.js`, `module#export`. */
  readonly leaseClass: string
  /** The options of the provider: values that can be copied to another thread. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
  /** The file to which a `./path.js` is relative; otherwise it is relative to the working directory. */
  readonly file?: string | undefined
  /** For errors: where in a configuration the options stand. */
  readonly configPath?: string | undefined
  /** For errors: the name of the first lease. */
  readonly leaseName?: string | undefined
  /**
   * How long the thread may take to start and to open the store, in milliseconds; 30 s unless given, `Infinity` for no limit.
   * Also for opening it again, after the thread has ended.
   */
  readonly timeout?: number | undefined
}

/** In milliseconds. Loading a provider can take seconds on a busy machine. */
const OPEN_TIMEOUT = 30_000

const storeOptionNames: OptionNames<ThreadStoreOptions> = {
  leaseClass: true,
  options: true,
  file: true,
  configPath: true,
  leaseName: true,
  timeout: true,
}

/**
 * A worker thread that keeps stores. It renews the leases over them while the main thread is blocked, so that they are not
 * lost. It is started when it is needed, ends when it has had no lease for ten seconds, and does not keep the process
 * alive. If it dies, its leases are lost at once (`closed`, with the cause), and the next `acquire` starts a new one.
 */
export class HeartbeatThread implements AsyncDisposable {
  readonly #options: HeartbeatThreadOptions
  readonly #stores = new Map<number, ThreadStore>()
  #link: ThreadLink | undefined
  #isClosed = false
  #serial = 0

  constructor(options: HeartbeatThreadOptions = {}) {
    checkOptionNames('HeartbeatThread', options, { execArgv: true, env: true, resourceLimits: true })
    this.#options = options
  }

  /**
   * Opens a store in the thread. Leases over it have their heartbeats sent there: give it to `createLease`, to a recipe, or
   * to `new StoreLease`. Rejects with a `LeaseConfigurationError` if the module cannot be loaded, or the options cannot be
   * copied; with the error of the provider; with a `LeaseUnavailableError` if the thread cannot be started; or with a
   * `LeaseTimeoutError` if the store is not open within `timeout`. A store that opens later is closed.
   */
  async open(given: ThreadStoreOptions): Promise<LeaseStore> {
    checkOptionNames('HeartbeatThread.open', given, storeOptionNames)
    const { leaseClass, options = {}, file, configPath: path = 'leaseClass', leaseName = 'any' } = given
    const { timeout = OPEN_TIMEOUT } = given
    if (typeof leaseClass !== 'string') {
      throw new LeaseConfigurationError(
        `the lease-class of '${path}' must be the name of a module, because no other value can be passed to a heartbeat thread`,
        { leaseName },
      )
    }
    checkFault(faultOfDuration('timeout of HeartbeatThread.open', timeout), { leaseName })
    const spec = { leaseClass, file, path, options: copied(options, path, leaseName), leaseName, timeout }
    this.#serial += 1
    const id = this.#serial
    const link = this.#get()
    const opened = await keptAlive(systemClock, link.open(id, spec))
    const store = new ThreadStore(() => this.#get(), id, spec, link, opened)
    this.#stores.set(id, store)
    store.closed.addEventListener('abort', () => void this.#stores.delete(id), { once: true })
    return store
  }

  /** Ends the leases (holders are notified with `closed`), closes the stores, and ends the thread. */
  async close(): Promise<void> {
    this.#isClosed = true
    const link = this.#link
    if (link !== undefined) await keptAlive(systemClock, link.stop())
    for (const store of this.#stores.values()) store.onClosed()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #get(): ThreadLink {
    if (this.#link !== undefined) return this.#link
    if (this.#isClosed) throw new LeaseUnavailableError('this HeartbeatThread is closed')
    try {
      this.#link = new ThreadLink(
        this.#options,
        (ending) => {
          if (this.#link === ending) this.#link = undefined
        },
        (store) => this.#stores.get(store)?.onClosed(),
      )
    } catch (cause) {
      throw new LeaseUnavailableError(`the heartbeat thread could not be started: ${reasonOf(cause)}`, { cause })
    }
    return this.#link
  }
}

function copied(options: Readonly<Record<string, unknown>>, path: string, leaseName: string) {
  try {
    return structuredClone(options)
  } catch (cause) {
    throw new LeaseConfigurationError(
      `the options of '${path}' cannot be passed to a heartbeat thread: ${reasonOf(cause)}. Give plain values, so that the ` +
        'thread makes its own client',
      { leaseName, cause },
    )
  }
}
