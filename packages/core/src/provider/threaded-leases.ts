import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { shownValue } from '../errors/shown-value.js'
import { environmentOf } from '../lease/lease-environment.js'
import type { LeaseFactory, LeaseFactoryContext } from '../lease/lease-factory.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { LeaseStore } from '../store/lease-store.js'
import { StoreLease } from '../store-lease/store-lease.js'
import { loadForSetting } from '../user-code/load-package.js'
import { type LeaseBlock, onOrOff } from './lease-block.js'

/** Whether the block of a lease asks for a heartbeat thread. Throws a `LeaseConfigurationError` for an unknown word. */
export function hasHeartbeatThread({ heartbeatThread }: LeaseBlock, path: string): boolean {
  const isOn = onOrOff(heartbeatThread)
  if (isOn !== undefined) return isOn
  throw new LeaseConfigurationError(
    `heartbeat-thread of '${path}' must be on or off, not ${shownValue(heartbeatThread)}`,
  )
}

/** The part of a `HeartbeatThread` that a provider uses. */
interface StoreThread {
  open(store: {
    readonly leaseClass: string
    readonly options: Readonly<Record<string, unknown>>
    readonly file: string | undefined
    readonly configPath: string
    readonly leaseName: string
  }): Promise<LeaseStore>
  close(): Promise<void>
}

/** Rejects with a `LeaseConfigurationError` if `@leasehold/heartbeat-thread` is not installed. */
async function startThread(): Promise<StoreThread> {
  const loaded = await loadForSetting('@leasehold/heartbeat-thread', 'heartbeat-thread')
  const { HeartbeatThread } = loaded as { readonly HeartbeatThread: new () => StoreThread }
  return new HeartbeatThread()
}

/** The leases of a provider whose heartbeats are sent by a thread. All of them share one thread. */
export class ThreadedLeases {
  /** Loaded for the first of them. */
  #thread: Promise<StoreThread> | undefined

  /**
   * The lease that the factory would make, over a store that is open in the thread. `factories`: those that the
   * `lease-class` may name, but a thread cannot load. `file`: where the `lease-class` was given.
   */
  async create(
    settings: LeaseSettings,
    factory: LeaseFactory,
    factories: Readonly<Record<string, LeaseFactory>>,
    file: string | undefined,
    context: LeaseFactoryContext,
  ): Promise<StoreLease> {
    const { configPath, share } = context
    const { leaseClass, ...block } = settings.options
    if (typeof leaseClass !== 'string' || Object.hasOwn(factories, leaseClass)) {
      throw new LeaseConfigurationError(
        `heartbeat-thread of '${configPath}' needs a lease-class that names a module, because a function cannot be passed to ` +
          'a thread: name the module that exports it, or switch heartbeat-thread off',
        { leaseName: settings.name, owner: settings.owner },
      )
    }
    const keys = factory.optionKeys ?? Object.keys(block).toSorted()
    const key = JSON.stringify(['heartbeat-thread', leaseClass, file, keys.map((name) => block[name] ?? null)])
    const store = await share(key, async () => {
      this.#thread ??= startThread()
      // A package that was not installed may be installed meanwhile.
      const thread = await this.#thread.catch((error: unknown) => {
        this.#thread = undefined
        throw error
      })
      return await thread.open({ leaseClass, options: block, file, configPath, leaseName: settings.name })
    })
    return new StoreLease(settings, store, environmentOf(context))
  }

  /** Ends the thread. The leases and their stores are closed before. */
  async close(): Promise<void> {
    const thread = await this.#thread
    await thread?.close()
  }
}
