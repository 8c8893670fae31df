import {
  type Clock,
  type CreateLeaseOptions,
  type LeaseRecord,
  LeaseSettings,
  type LeaseStore,
  readLease,
  StoreLease,
  systemClock,
} from '@leasehold/core'
import { keptAlive, leaseParts } from '@leasehold/core/internal'
import { checkLeaseName, type StoreLeaseEnvironment } from '@leasehold/core/store'
import { leaseOptionsOf } from './recipe-options.js'

interface KeyedLeasesOptions extends CreateLeaseOptions {
  /** The beginning of the lease names: the lease of a key is `name/key`. Unless given, the key itself is the lease name. */
  readonly name?: string | undefined
}

/** The leases of one owner on the keys of a recipe. All uses of a key share its lease, which is kept while it is used or held. */
export class KeyedLeases {
  readonly store: LeaseStore
  readonly clock: Clock
  /** The settings of every lease, except for the name. */
  readonly settings: LeaseSettings
  readonly #name: string | undefined
  readonly #environment: StoreLeaseEnvironment
  readonly #kept = new Map<string, { readonly lease: StoreLease; users: number }>()
  readonly #onCreated: (key: string, lease: StoreLease) => void

  /** `usualName`: the name in errors if none is given. Throws a `LeaseConfigurationError` if an option is invalid. */
  constructor(
    store: LeaseStore,
    { name, ...options }: KeyedLeasesOptions,
    usualName: string,
    onCreated = (_key: string, _lease: StoreLease): void => {},
  ) {
    const { settings, environment } = leaseParts('createLease', name ?? usualName, leaseOptionsOf(options))
    this.store = store
    this.clock = options.clock ?? systemClock
    // A lease checks that the store admits the settings.
    this.settings = new StoreLease(settings, store, environment).settings
    this.#name = name
    this.#environment = environment
    this.#onCreated = onCreated
  }

  /** The keys whose leases are kept, with their leases. */
  get kept(): readonly (readonly [key: string, lease: StoreLease])[] {
    return Array.from(this.#kept, ([key, { lease }]) => [key, lease])
  }

  get all(): readonly StoreLease[] {
    return this.kept.map(([, lease]) => lease)
  }

  get(key: string): StoreLease | undefined {
    return this.#kept.get(key)?.lease
  }

  nameOf(key: string): string {
    return this.#name === undefined ? key : `${this.#name}/${key}`
  }

  async use<T>(key: string, work: (lease: StoreLease) => Promise<T>): Promise<T> {
    const used = this.#kept.get(key) ?? { lease: this.#create(key), users: 0 }
    used.users += 1
    this.#kept.set(key, used)
    try {
      return await keptAlive(this.clock, work(used.lease))
    } finally {
      used.users -= 1
      this.#forget(key)
    }
  }

  /** The record of a key. Rejects with a `LeaseNameError` if the key makes no lease name. */
  async read(key: string, signal?: AbortSignal): Promise<LeaseRecord | undefined> {
    const name = this.nameOf(key)
    checkLeaseName(name)
    const { operationTimeout: timeout } = this.settings.timeouts
    return await readLease(this.store, name, { timeout, clock: this.clock, signal })
  }

  #create(key: string): StoreLease {
    const settings = new LeaseSettings({ ...this.settings, name: this.nameOf(key) })
    const lease = new StoreLease(settings, this.store, this.#environment)
    const forget = (): void => this.#forget(key)
    lease.on('released', forget).on('lost', forget)
    this.#onCreated(key, lease)
    return lease
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key)
    if (kept?.users === 0 && !kept.lease.checkLease()) this.#kept.delete(key)
  }
}
