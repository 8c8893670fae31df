import { isLocked, type LeaseRecord, LeaseUnavailableError } from '@leasehold/core'
import { isLeaseState } from '@leasehold/core/internal'
import type { StoreCall } from '@leasehold/core/store'
import { SlotWatch } from './slot-watch.js'
import type { Turnstile } from './turnstile.js'

/**
 * Waits until each of these slots was seen empty, and returns whether they were; looks once if it is not to be `isPatient`.
 * The call ends the wait. No instance may be able to enter the slots meanwhile. Rejects where it looks once, and the store
 * does not answer.
 */
export async function waitUntilEmpty(
  turnstile: Turnstile,
  slots: readonly number[],
  call: StoreCall,
  isPatient: boolean,
): Promise<boolean> {
  const full = new Set(slots)
  const watch = isPatient ? new SlotWatch(turnstile, slots, call) : undefined
  const look = async (slot: number): Promise<void> => {
    if (!full.has(slot)) return
    try {
      const record = await turnstile.readRecord(slot, call.signal)
      if (record === undefined || isFree(record)) full.delete(slot)
      else watch?.expectExpiry(slot, record)
    } catch (error) {
      // It is looked at again.
      if (!isPatient) throw error
    }
  }
  try {
    let due = slots
    while (due.length > 0) {
      await Promise.all(due.map(look))
      if (full.size === 0) return true
      due = (await watch?.next())?.slots ?? []
    }
    return full.size === 0
  } finally {
    watch?.end()
  }
}

/** Which of the slots below a number are held. Rejects where the store does not answer. */
export async function heldSlots(turnstile: Turnstile, below: number, signal: AbortSignal): Promise<Set<number>> {
  const held = new Set<number>()
  const look = async (_: unknown, slot: number): Promise<void> => {
    const record = await turnstile.readRecord(slot, signal)
    if (record !== undefined && !isFree(record)) held.add(slot)
  }
  await Promise.all(Array.from({ length: below }, look))
  return held
}

/**
 * Whether a slot with this record is empty. Rejects an answer that is no record: reading is the only look at the slot, so the
 * answer of a store that is at fault must not let a writer in.
 */
function isFree(record: LeaseRecord): boolean {
  const { name, grantId, state } = record
  if (isLocked(record)) return false
  if (typeof grantId === 'string' && isLeaseState(state)) return true
  throw new LeaseUnavailableError('the store answered a read with something else than a record', { leaseName: name })
}
