import { setTimeout as pause } from 'node:timers/promises'
import type { LeaseStore } from '@leasehold/core'
import { granted, never } from './claims.js'

/** A claim waits until the second is over in which the blob was made, or written by another. */
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
  await pause(1_000)
}
