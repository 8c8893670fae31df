import { isLocked, type LeaseRecord } from '@leasehold/core'
import type { AcquireOutcome } from '@leasehold/core/store'
import type { KvEntry } from './kv-entry.js'
import { grantOf, type LeaseValue } from './lease-value.js'

/** Added to observed periods, in milliseconds: clocks are read in steps. */
const MARGIN = 25

/** An entry with a value of ours, or without one, and for how long this process has seen it unchanged. */
export interface SeenEntry extends KvEntry {
  /** In milliseconds. */
  readonly unchanged: number
}

export interface Standing {
  readonly state: LeaseRecord['state']
  /** For how long the name is certainly locked, in milliseconds, where this process can tell. */
  readonly remaining?: number
}

/** Where a lease stands. Consul decides: the holder is the one whose session holds the key. */
export function standingOf({ session, value, unchanged }: SeenEntry): Standing {
  if (session === '') return withoutSession(value)
  if (value?.breakPeriod === undefined) return { state: 'leased' }
  // The session of the holder keeps the key: challengers take over when they have seen the period pass.
  const remaining = value.breakPeriod + MARGIN - unchanged
  return remaining > 0 ? { state: 'breaking', remaining } : { state: 'broken' }
}

function withoutSession(value: LeaseValue | undefined): Standing {
  if (value === undefined || value.released === true) return { state: 'available' }
  return { state: value.breakPeriod === undefined ? 'expired' : 'broken' }
}

/**
 * Returns for how long a challenger must still see a name whose holder has lost its session, in milliseconds. The holder
 * may not know of the loss, and act until its ttl is over. The lock-delay covers that, but Consul limits it to 60 s. A
 * lock-delay that the user made shorter is obeyed.
 */
export function vacatedFor({ session, value, unchanged }: SeenEntry, longestLockDelay: number): number {
  const isVacated = session === '' && value !== undefined && value.released !== true && value.breakPeriod === undefined
  if (!isVacated || value.lockDelay < longestLockDelay || value.ttl <= longestLockDelay) return 0
  return Math.max(value.ttl + MARGIN - unchanged, 0)
}

/** Returns the record. Its owner is empty if another program holds the key. */
export function recordOf(name: string, entry: SeenEntry, fencingToken: bigint, standing: Standing): LeaseRecord {
  const { value } = entry
  if (value === undefined || (value.released === true && entry.session !== '')) {
    return { name, owner: '', grantId: '', fencingToken, metadata: {}, ...standing }
  }
  const { owner, grantId, ttl, metadata, previous } = value
  const shown = { name, owner, grantId, fencingToken, ttl, metadata, ...standing }
  return isLocked(standing) && previous !== undefined ? { ...shown, previous } : shown
}

/** The token of the grant in the value. A value without one bears that of the write that granted it. */
export function tokenOf({ modifyIndex, value }: KvEntry): bigint {
  return value?.token ?? BigInt(modifyIndex)
}

/**
 * The token that the value of the next grant needs: one more than that of the last grant, if that is larger than the indexes.
 * `undefined`: the token is the `ModifyIndex` of the write, which is larger than the one that was seen.
 */
export function raisedToken(entry: KvEntry | undefined): bigint | undefined {
  if (entry === undefined) return undefined
  const last = tokenOf(entry)
  return last > BigInt(entry.modifyIndex) ? last + 1n : undefined
}

/** The outcome for a request whose grant the entry has. */
export function granted(name: string, entry: SeenEntry): Extract<AcquireOutcome, { granted: true }> {
  const value = entry.value as LeaseValue
  const grant = grantOf(name, value, tokenOf(entry))
  return { granted: true, grant, ...(value.previous === undefined ? {} : { previous: value.previous }) }
}
