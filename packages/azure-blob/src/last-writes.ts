import { isSettled, KNOWN_NAMES, RecentMap, tokenTime } from '@leasehold/core/store-kit'
import type { Found } from './lease-resource.js'
import type { StoredGrant } from './stored-grant.js'

/** The last writes of one store, by their ETags, and the tokens that may follow them. See {@link KNOWN_NAMES}. */
export class LastWrites {
  readonly #etags = new RecentMap<string | undefined>(KNOWN_NAMES)

  /** Keeps the ETag with which the service answered a write of this store. */
  set(name: string, etag: string | undefined): void {
    this.#etags.set(name, etag)
  }

  /** Whether what was found is the last write of this store. */
  has(name: string, { etag }: Found): boolean {
    return this.#etags.get(name) === etag
  }

  /** Whether the record may be older than the last grant: both may have been written in the same second. */
  mayHaveReturned(name: string, found: Found): boolean {
    return !isSettled(found) && !this.has(name, found)
  }

  /**
   * Returns one more than the stored token, but at least the service's time. The record can be missing, or older than the
   * last grant, after a restored snapshot or a write of metadata that was read earlier.
   */
  nextToken(name: string, found: Found, stored: StoredGrant | undefined): bigint {
    const time = tokenTime(found, this.has(name, found))
    const next = (stored?.fencingToken ?? 0n) + 1n
    return next > time ? next : time
  }
}
