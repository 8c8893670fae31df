import type { LeaseStore } from '@leasehold/core'
import { granted, never } from './claims.js'

/** The first claim of a name waits until the second is over in which its blob was made. */
export function prepared(open: () => LeaseStore): (name: string) => Promise<void> {
  const made = new Map<string, Promise<void>>()
  return (name) => {
    const making = made.get(name) ?? claimAndRelease(open(), name)
    made.set(name, making)
    return making
  }
}

async function claimAndRelease(store: LeaseStore, name: string): Promise<void> {
  await store.release(await granted(store, name), never)
}
