import { isLocked } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { SlotWatch } from './slot-watch.js'
import type { Turnstile } from './turnstile.js'

/**
 * Waits until each of these slots was seen empty, or until the call is aborted, and returns whether all were. Without
 * `isPatient`, it looks once, and rejects if the store does not answer. No instance may be able to enter the slots
 * meanwhile.
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
      if (isLocked(record)) watch?.expectExpiry(slot, record)
      else full.delete(slot)
    } catch (error) {
      // The slot is looked at again.
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

/** The slots below this number that are held. Rejects if the store does not answer. */
export async function heldSlots(turnstile: Turnstile, below: number, signal: AbortSignal): Promise<Set<number>> {
  const held = new Set<number>()
  const look = async (_: unknown, slot: number): Promise<void> => {
    if (isLocked(await turnstile.readRecord(slot, signal))) held.add(slot)
  }
  await Promise.all(Array.from({ length: below }, look))
  return held
}
