import {
  type Clock,
  type CreateLeaseOptions,
  LeaseConflictError,
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

/** How the lease of one key differs from the others. */
export interface OwnOptions {
  readonly owner?: string | undefined
  readonly heartbeatTimeout?: number | undefined
}

/** The leases of one owner on the keys of a recipe. All uses of a key share its lease, which is kept while it is used or held. */
export class KeyedLeases {
  readonly store: LeaseStore
  readonly clock: Clock
  /** The settings of every lease, except for the name. */
  readonly settings: LeaseSettings
  readonly #name: string | undefined
  readonly #options: CreateLeaseOptions
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
    this.#options = leaseOptionsOf(options)
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

  /**
   * Rejects with a `LeaseConflictError` if the key is in use with another owner or ttl, and with a `LeaseConfigurationError` if
   * they are not valid.
   */
  async use<T>(key: string, work: (lease: StoreLease) => Promise<T>, own: OwnOptions = {}): Promise<T> {
    const used = this.#kept.get(key) ?? { lease: this.#create(key, own), users: 0 }
    checkIsSame(used.lease, own)
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

  #create(key: string, own: OwnOptions): StoreLease {
    const name = this.nameOf(key)
    const isUsual = own.owner === undefined && own.heartbeatTimeout === undefined
    const settings = isUsual
      ? new LeaseSettings({ ...this.settings, name })
      : leaseParts('createLease', name, { ...this.#options, owner: this.settings.owner, ...definedOf(own) }).settings
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

function definedOf({ owner, heartbeatTimeout }: OwnOptions): OwnOptions {
  return { ...(owner === undefined ? {} : { owner }), ...(heartbeatTimeout === undefined ? {} : { heartbeatTimeout }) }
}

function checkIsSame({ settings: { name, owner, timeouts } }: StoreLease, own: OwnOptions): void {
  if (
    (own.owner ?? owner) === owner &&
    (own.heartbeatTimeout ?? timeouts.heartbeatTimeout) === timeouts.heartbeatTimeout
  )
    return
  const message =
    `lease '${name}' is in use here already, with owner '${owner}' and a heartbeatTimeout of ${timeouts.heartbeatTimeout} ms: ` +
    'release it first, or use the same'
  throw new LeaseConflictError(message, { leaseName: name, owner })
}
