import { isLocked, type LeaseRecord, type LeaseStore, listLeases, type StoreOperationOptions } from '@leasehold/core'
import { recipeOf } from '../record-kind.js'
import { isStaying } from '../slots/turnstile-record.js'
import type { LockInfo, LockManagerSnapshot } from './lock.js'
import { recordOf } from './lock-name.js'
import { isExclusive } from './stealing-lease.js'

/** The records of one lock. */
interface LockRecords {
  turnstile?: LeaseRecord
  readonly readers: LeaseRecord[]
}

/**
 * The locks that the records of a store show. A process that holds a lock shared several times has one record. A
 * waiting request has a record only if it is next and waits for the end of shared locks. Rejects with a typed error
 * where the store cannot list.
 */
export async function readLocks(
  store: LeaseStore,
  prefix: string,
  options: StoreOperationOptions,
): Promise<LockManagerSnapshot> {
  const locks = new Map<string, LockRecords>()
  for await (const record of listLeases(store, `${prefix}/`, options)) {
    const found = recordOf(prefix, record.name)
    if (found === undefined) continue
    const records = locks.get(found.lock) ?? { readers: [] }
    locks.set(found.lock, records)
    if (!found.isSlot) records.turnstile = record
    else if (isLocked(record)) records.readers.push(record)
  }
  const held: LockInfo[] = []
  const pending: LockInfo[] = []
  for (const [name, { turnstile, readers }] of locks) {
    // Another recipe may have names with this beginning.
    if (recipeOf(turnstile?.metadata) !== 'read-write-lease') continue
    for (const { owner } of readers) held.push({ name, mode: 'shared', clientId: owner })
    if (!isLocked(turnstile)) continue
    const { owner: clientId } = turnstile
    if (isExclusive(turnstile)) {
      if (readers.length === 0) held.push({ name, mode: 'exclusive', clientId })
      else pending.push({ name, mode: 'exclusive', clientId })
    } else if (isStaying(turnstile)) {
      pending.push({ name, mode: 'shared', clientId })
    }
  }
  return { held, pending }
}
