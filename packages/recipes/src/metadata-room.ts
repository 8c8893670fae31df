import { LeaseConfigurationError, type LeaseStore, type Metadata } from '@leasehold/core'
import { roomOf } from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'

/** The size of metadata, in bytes, as the limits of stores count it. */
export function sizeOf(metadata: Metadata): number {
  return Object.entries(metadata).reduce((sum, [key, value]) => sum + Buffer.byteLength(key + value), 0)
}

/** Throws a `LeaseConfigurationError` unless the store keeps metadata, and its records have room for the `smallest`. */
export function checkMetadataRoom(
  recipe: string,
  store: LeaseStore,
  smallest: Metadata,
  purpose: string,
  { advice = 'use a shorter owner', ...details }: LeaseErrorDetails & { readonly advice?: string } = {},
): void {
  const { kind = 'custom' } = store
  const [room, needed] = [store.update === undefined ? 0 : roomOf(store.limits), sizeOf(smallest)]
  if (room > 0 && room >= needed) return
  throw new LeaseConfigurationError(
    room === 0
      ? `${recipe} needs metadata ${purpose}, and the ${kind} store keeps none: use a store or a layout that does`
      : `${recipe} needs ${needed} bytes of metadata ${purpose}, and a record of the ${kind} store has room for ${room}: ${advice}`,
    { store: kind, ...details },
  )
}
