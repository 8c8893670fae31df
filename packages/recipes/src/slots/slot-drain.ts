import { type Clock, type LeaseRecord, LeaseUnavailableError, readLease } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { SlotWatch } from './slot-watch.js'
import type { Turnstile } from './turnstile.js'

export interface DrainOptions {
  readonly clock: Clock
  /** Ends the wait. */
  readonly call: StoreCall
  /** Whether it waits for the slots to become empty; if not, it looks once. */
  readonly isPatient: boolean
}

/**
 * Waits until each of these slots was seen empty, and returns whether they were. No instance may be able to enter them meanwhile.
 * Rejects where it looks once, and the store does not answer.
 */
export async function waitUntilEmpty(
  turnstile: Turnstile,
  slots: readonly number[],
  { clock, call, isPatient }: DrainOptions,
): Promise<boolean> {
  const { timeouts } = turnstile.lease().settings
  const names = slots.map((slot) => turnstile.nameOf(slot))
  const full = new Set(names.keys())
  const watch = isPatient ? new SlotWatch(turnstile.store, clock, { names, timeouts, call }) : undefined
  const look = async (place: number): Promise<void> => {
    const name = names[place]
    if (name === undefined || !full.has(place)) return
    try {
      const record = await readLease(turnstile.store, name, {
        timeout: timeouts.operationTimeout,
        clock,
        signal: call.signal,
      })
      if (record === undefined || isFree(record)) full.delete(place)
      else watch?.expectExpiry(place, record)
    } catch (error) {
      // It is looked at again.
      if (!isPatient) throw error
    }
  }
  try {
    let due: readonly number[] = [...full]
    while (due.length > 0) {
      await Promise.all(due.map(look))
      if (full.size === 0) return true
      due = (await watch?.next()) ?? []
    }
    return full.size === 0
  } finally {
    watch?.end()
  }
}

/**
 * Whether a slot with this record is empty. Rejects an answer that is no record: reading is the only look at the slot, so the
 * answer of a store that is at fault must not let a writer in.
 */
function isFree(record: LeaseRecord): boolean {
  const { name, grantId, state } = record
  if (state === 'leased' || state === 'breaking') return false
  const isRecord = typeof grantId === 'string' && (state === 'expired' || state === 'broken' || state === 'available')
  if (isRecord) return true
  throw new LeaseUnavailableError('the store answered a read with something else than a record', { leaseName: name })
}
