import {
  type Clock,
  isLocked,
  type LeaseRecord,
  type LeaseStore,
  LeaseUnavailableError,
  readLease,
  systemClock,
} from '@leasehold/core'
import { keptAlive } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { pauseUntil } from './waiting.js'

type ReadOptions = NonNullable<Parameters<typeof readLease>[2]> & { readonly timeout: number }

/** The pause before a record is read again, in milliseconds. */
const PAUSE = 20

/**
 * Reads the record of a name, with its metadata. Azure Blob Storage grants a lease before it has the record of the holder: in
 * between, the metadata are not known, and the record is read again. Rejects with a `LeaseUnavailableError` if they are still
 * not known after `timeout` milliseconds, because the holder has died; otherwise as `readLease` does.
 */
export function readKnown(store: LeaseStore, name: string, options: ReadOptions): Promise<LeaseRecord | undefined> {
  const { clock = systemClock, keepAlive } = options
  return keptAlive(clock, readUntilKnown(store, name, { ...options, clock }), keepAlive)
}

async function readUntilKnown(
  store: LeaseStore,
  name: string,
  options: ReadOptions & { readonly clock: Clock },
): Promise<LeaseRecord | undefined> {
  const { clock, timeout } = options
  const end = clock.now() + timeout
  for (;;) {
    const record = await readLease(store, name, options)
    if (record === undefined || !isLocked(record) || record.owner !== '') return record
    if (clock.now() >= end) throw unknownHolder(store, name)
    await pauseUntil(clock, PAUSE, new AbortableCall())
  }
}

function unknownHolder({ kind }: LeaseStore, name: string): LeaseUnavailableError {
  const message = `the lease '${name}' is held, but its holder has not written a record: try again when the lease has expired`
  return new LeaseUnavailableError(message, { leaseName: name, ...(kind === undefined ? {} : { store: kind }) })
}
