import { isLocked, type LeaseRecord, type LeaseStore, readLease, systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { pauseUntil } from './waiting.js'

type ReadOptions = NonNullable<Parameters<typeof readLease>[2]> & { readonly timeout: number }

/** The pause before a record is read again, in milliseconds. */
const PAUSE = 20

/**
 * Reads the record of a name, with its metadata. Azure Blob Storage grants a lease first and gets the record of the holder
 * after that: in between, neither the holder nor the metadata are known, and the record is read again, for `timeout`
 * milliseconds at most. Rejects as `readLease` does.
 */
export async function readKnown(
  store: LeaseStore,
  name: string,
  options: ReadOptions,
): Promise<LeaseRecord | undefined> {
  const { clock = systemClock, timeout } = options
  const end = clock.now() + timeout
  for (;;) {
    const record = await readLease(store, name, options)
    if (record === undefined || !isLocked(record) || record.owner !== '' || clock.now() >= end) return record
    await pauseUntil(clock, PAUSE, new AbortableCall())
  }
}
