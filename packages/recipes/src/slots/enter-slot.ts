import { LeaseLostError } from '@leasehold/core'
import type { Attempt, Entry } from './attempt.js'
import { SlotSearch } from './slot-search.js'
import type { Turnstile } from './turnstile.js'

/**
 * Passes the turnstile and enters a slot. The entry counts only if the turnstile was still held when the grant of the slot
 * was seen: so no entry by a request that was sent late counts once another has the turnstile.
 */
export async function enterSlot(turnstile: Turnstile, attempt: Attempt): Promise<Entry | undefined> {
  const held = turnstile.lease()
  if (!(await turnstile.take(held, attempt))) return undefined
  const { fencingToken } = held
  let leave = (): Promise<unknown> => held.release()
  let entry: Entry | undefined
  try {
    const search = new SlotSearch(turnstile, held, await turnstile.read(held))
    const found = await search.find(attempt)
    if (found === undefined) return undefined
    const { hasWaited, record } = search
    const next = (found.slot + 1) % record.count
    const metadata = turnstile.toMetadata({ ...record, next, isFull: hasWaited })
    leave = () => held.release({ metadata })
    if (fencingToken === undefined || !held.checkLease()) {
      await found.lease.release().catch(() => {})
      return undefined
    }
    entry = { ...found, fencingToken, left: leave().catch(() => {}) }
    return entry
  } catch (error) {
    // The place at the turnstile was lost: an attempt that waits begins again.
    if (error instanceof LeaseLostError && attempt.isPatient) return undefined
    throw error
  } finally {
    if (entry === undefined) await leave().catch(() => {})
  }
}
