import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { keptAlive } from '../keep-alive.js'
import { checkOptionNames } from '../option-names.js'
import { reasonOf } from '../shown-value.js'
import type { LeaseStore } from '../store/lease-store.js'
import { type HeartbeatThreadOptions, ThreadLink } from './thread-link.js'
import type { OpenedStore } from './thread-messages.js'
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
}

/**
 * A worker thread that keeps stores, and sends the heartbeats of the leases over them: a blocked main thread keeps its
 * leases. It is started when it is needed, ends when it has had no lease for ten seconds, and does not keep the process alive.
 * If it dies, its leases are lost at once (`closed`, with the cause), and the next `acquire` starts a new one.
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
   * copied; with the error of the provider; or with a `LeaseUnavailableError` if the thread cannot be started.
   */
  async open(given: ThreadStoreOptions): Promise<LeaseStore> {
    const names = { leaseClass: true, options: true, file: true, configPath: true, leaseName: true } as const
    checkOptionNames<ThreadStoreOptions>('HeartbeatThread.open', given, names)
    const { leaseClass, options = {}, file, configPath = 'leaseClass', leaseName = 'any' } = given
    if (typeof leaseClass !== 'string') {
      throw new LeaseConfigurationError(
        `the lease-class of '${configPath}' must be the name of a module, because no other value can be passed to a heartbeat thread`,
        { leaseName },
      )
    }
    const spec = { leaseClass, file, path: configPath, options: copied(options, configPath, leaseName), leaseName }
    this.#serial += 1
    const id = this.#serial
    const link = this.#get()
    const opened = (await keptAlive(link.ask({ type: 'open', store: id, spec }).answer)) as OpenedStore
    const store = new ThreadStore(() => this.#get(), id, spec, link, opened)
    this.#stores.set(id, store)
    store.closed.addEventListener('abort', () => void this.#stores.delete(id), { once: true })
    return store
  }

  /** Ends the leases (holders are notified with `closed`), closes the stores, and ends the thread. */
  async close(): Promise<void> {
    this.#isClosed = true
    const link = this.#link
    this.#link = undefined
    if (link !== undefined) await keptAlive(link.stop())
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
