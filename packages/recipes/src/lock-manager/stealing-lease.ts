import {
  breakLease,
  isLocked,
  LeaseConfigurationError,
  LeaseConflictError,
  type LeaseRecord,
  type LeaseStore,
  type Metadata,
  type StoreLease,
} from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { ExclusiveLease } from '../read-write/read-write-lease.js'
import type { EntryRequest } from '../slots/entry.js'
import { isStaying } from '../slots/turnstile-record.js'

/** The longest time between two looks at a name that has to be taken, in milliseconds. */
const LONGEST_PAUSE = 1_000

/** The metadata of an exclusive lock, beside the record of its turnstile. */
export const exclusiveMetadata: Metadata = { mode: 'exclusive' }

/** Whether an exclusive lock has the name, or waits until the shared ones have ended. */
export function isExclusive(record: LeaseRecord | undefined): record is LeaseRecord {
  return isLocked(record) && record.metadata.mode === 'exclusive' && isStaying(record)
}

/** Throws a `LeaseConfigurationError` if locks of the store cannot be stolen. */
export function checkCanSteal(
  { break: breaks, change, kind = 'custom' }: LeaseStore,
  details: LeaseErrorDetails,
): void {
  if (breaks !== undefined && change !== undefined) return
  const missing = breaks === undefined ? 'break leases' : 'hand leases over'
  throw new LeaseConfigurationError(
    `the ${kind} store cannot ${missing}, so steal is not possible: leave it out`,
    details,
  )
}

/**
 * An exclusive lease that takes the name from its holder in one write, so that the name is never free, and no waiter is
 * granted it in between. Shared holders are broken. A reader that was entering notices when it leaves the turnstile.
 */
export class StealingLease extends ExclusiveLease {
  protected override async take(held: StoreLease, request: EntryRequest): Promise<boolean> {
    const { turnstile } = this
    const { signal } = request
    const wait = Math.min(turnstile.timeouts.heartbeatInterval / 10, LONGEST_PAUSE)
    while (!signal.aborted) {
      const record = await turnstile.readRecord(undefined, signal)
      if (record?.state === 'leased' && (await held.adopt(this.#handOffOf(record), { signal }))) return true
      if (await held.acquire({ wait, signal })) return true
    }
    return false
  }

  protected override async empty(slots: readonly number[], lost: AbortSignal, request: EntryRequest): Promise<boolean> {
    await this.#breakSlots(slots.length, request.signal)
    return await super.empty(slots, lost, request)
  }

  /** The grant of another owner, as if it had been handed over. */
  #handOffOf({ name, grantId, fencingToken, ttl = Number.POSITIVE_INFINITY }: LeaseRecord) {
    return {
      name,
      owner: this.settings.owner,
      grantId,
      fencingToken: String(fencingToken),
      ttl: ttl === Number.POSITIVE_INFINITY ? ('infinite' as const) : ttl,
    }
  }

  async #breakSlots(count: number, signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, slot) => this.#breakSlot(slot, signal)))
  }

  async #breakSlot(slot: number, signal: AbortSignal): Promise<void> {
    const { store, clock, timeouts, settings } = this.turnstile
    const record = await this.turnstile.readRecord(slot, signal)
    if (!isLocked(record)) return
    const { grantId } = record
    const reason = `stolen by ${settings.owner}`
    const timeout = timeouts.operationTimeout
    try {
      await breakLease(store, this.turnstile.nameOf(slot), { period: 0, reason, grantId, timeout, signal, clock })
    } catch (error) {
      // Its holder has released it.
      if (!(error instanceof LeaseConflictError)) throw error
    }
  }
}
