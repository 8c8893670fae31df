import { setMaxListeners } from 'node:events'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import { checkFault, faultOfLimit } from '../errors/option-faults.js'
import { shownValue } from '../errors/shown-value.js'
import { acceptedTtls } from '../settings/store-limits.js'
import { faultOfGuid, isGuid } from '../store/guid.js'
import { checkLeaseName, checkOwner } from '../store/lease-name.js'
import type { Grant, Metadata } from '../store/lease-record.js'
import type { AcquireRequest, BreakOptions, StoreLimits } from '../store/lease-store.js'
import { checkMetadata, roomOf } from '../store/metadata.js'
import type { StoreCall } from '../store/store-call.js'
import { closedError } from './store-errors.js'

/** The largest signed integer of 64 bits: what databases and registers keep as a number. */
const LARGEST_TOKEN = 2n ** 63n - 1n

/**
 * The checks that every store makes before an operation: that it is open, that the call was not aborted, and that names,
 * owners, ttls and metadata are valid. Each method throws a typed `LeaseError`, or the reason of the call.
 */
export class StoreChecks {
  readonly #kind: string
  readonly #limits: StoreLimits
  readonly #closing = new AbortController()

  constructor(kind: string, limits: StoreLimits) {
    this.#kind = kind
    this.#limits = limits
    // Each client of the store listens once, and there may be many: that is no leak.
    setMaxListeners(0, this.#closing.signal)
  }

  /** For `LeaseStore.closed`. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /** Aborts `closed`; operations throw from now on. Returns whether the store was still open. */
  close(): boolean {
    if (this.#closing.signal.aborted) return false
    this.#closing.abort()
    return true
  }

  /** Checks that the store is open and the call was not aborted. */
  usable(call?: StoreCall): void {
    if (this.#closing.signal.aborted) throw closedError(this.#kind)
    if (call?.aborted === true) throw call.signal.reason
  }

  /** For `read`, `withdraw` and `watch`. */
  name(name: string, call?: StoreCall): void {
    this.usable(call)
    checkLeaseName(name)
  }

  acquire({ name, owner, ttl, metadata }: AcquireRequest, call?: StoreCall): void {
    this.name(name, call)
    checkOwner(owner)
    this.#ttl(ttl, name, owner)
    this.#metadata(metadata, name)
  }

  /** For `acquire` and `change`, where the backend takes only GUIDs as grant ids. */
  guid(grantId: unknown, leaseName: string): void {
    if (!isGuid(grantId)) throw new LeaseConfigurationError(faultOfGuid(grantId), this.#details(leaseName))
  }

  /** For `release`. It checks no ttl: a grant that was rebuilt from an incomplete record must be freed as well. */
  release({ name }: Grant, call?: StoreCall, metadata?: Metadata): void {
    this.usable(call)
    this.#metadata(metadata, name)
  }

  /** For `renew` and `update`. */
  grant({ name, owner, ttl }: Grant, call?: StoreCall, metadata?: Metadata): void {
    this.usable(call)
    this.#ttl(ttl, name, owner)
    this.#metadata(metadata, name)
  }

  /** For `raiseToken`. `largest`: the last token that the store can count. */
  token(grant: Grant, token: bigint, call?: StoreCall, largest = LARGEST_TOKEN): void {
    this.grant(grant, call)
    if (typeof token === 'bigint' && token >= 0n && token < largest) return
    const found = typeof token === 'bigint' ? String(token) : shownValue(token)
    const message = `the fencing token must be a bigint from 0 to below ${largest}, which is how far this store counts, not ${found}`
    throw new LeaseConfigurationError(message, { ...this.#details(grant.name), owner: grant.owner })
  }

  change(grant: Grant, to: { readonly owner: string }, call?: StoreCall): void {
    this.grant(grant, call)
    checkOwner(to.owner)
  }

  break(name: string, { period }: BreakOptions, call?: StoreCall): void {
    this.name(name, call)
    checkFault(faultOfLimit('period', period), this.#details(name))
  }

  #ttl(ttl: number, leaseName: string, owner: string): void {
    const accepted = acceptedTtls(ttl, this.#limits)
    if (accepted === undefined) return
    const message = `the ttl must be ${accepted}, not ${shownValue(ttl)}`
    throw new LeaseConfigurationError(message, { ...this.#details(leaseName), owner })
  }

  #metadata(metadata: Metadata | undefined, leaseName: string): void {
    checkMetadata(metadata, this.#details(leaseName), roomOf(this.#limits))
  }

  #details(leaseName?: string): LeaseErrorDetails {
    return leaseName === undefined ? { store: this.#kind } : { store: this.#kind, leaseName }
  }
}
