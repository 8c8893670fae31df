import { LeaseConfigurationError, type LeaseStore, type Metadata } from '@leasehold/core'

/** The size of the metadata of a record, in bytes, unless a store says otherwise. */
const USUAL_ROOM = 4_096

/** The metadata of a record that marks its job as done: by which owner, and in which run. */
export type DoneMark = Metadata & { readonly doneBy: string; readonly doneIn: string }

/** Whether the metadata of a record says that its job was done in this run. */
export function isDoneIn(run: string, metadata: Metadata | undefined): metadata is DoneMark {
  return typeof metadata?.doneBy === 'string' && metadata.doneIn === run
}

/** Throws a `LeaseConfigurationError` unless the records of the store have room for the mark. */
export function checkRoomFor(mark: DoneMark, { update, limits, kind = 'custom' }: LeaseStore): void {
  const room = limits.metadata ?? USUAL_ROOM
  const needed = Object.entries(mark).reduce((sum, [key, value]) => sum + Buffer.byteLength(key + value), 0)
  if (update !== undefined && room >= needed) return
  throw new LeaseConfigurationError(
    update === undefined || room === 0
      ? `processEach needs metadata to mark a job as done, and the ${kind} store keeps none: use a store or a layout that does`
      : `processEach needs ${needed} bytes of metadata to mark a job as done, and a record of the ${kind} store has room for ` +
          `${room}: use a shorter owner, or a shorter run`,
    { store: kind, owner: mark.doneBy },
  )
}
