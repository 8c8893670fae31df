import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { silentLogger } from './held-lease.js'

export function setUpInMemory() {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const open = (owner: string) => createLease(store, 'job', { owner, clock, logger: silentLogger })
  return { clock, store, lease: open('me'), other: open('other') }
}

/** Work that runs until the test ends it. */
export function pendingWork<T = string>() {
  const started: { signal: AbortSignal; fencingToken: bigint }[] = []
  let resolve: (value: T) => void = () => {}
  const ended = new Promise<T>((settle) => {
    resolve = settle
  })
  const work = (held: { signal: AbortSignal; fencingToken: bigint }): Promise<T> => {
    started.push(held)
    return ended
  }
  return { work, started, end: (value: T) => resolve(value) }
}
