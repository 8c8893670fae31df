import { vi } from 'vitest'
import { ThreadLink } from '../../src/thread-link.js'
import { block } from './block.js'

/** How long a thread may take for a grant, in milliseconds. */
const LONGEST = 30_000

interface Seats {
  /** How many leases have taken a seat. */
  readonly count: number
  /** Blocks this thread until the heartbeat thread has granted the lease with this place. */
  readonly untilGranted: (place: number) => void
  /** Blocks when the lease with this place has sent its first claim, until that is granted, and then calls `action`. */
  readonly atGrant: (place: number, action: () => void) => void
}

/**
 * Sees the leases that take their seats in heartbeat threads from now on, and gives each its place. While this thread is blocked
 * until one is granted, the news of the grant is on its way here: it crosses every message that is sent before it is read.
 */
export function seeGrantsInThreads(): Seats {
  const seats: { readonly words: BigInt64Array; readonly slot: number }[] = []
  const actions = new Map<number, () => void>()
  const { register } = ThreadLink.prototype
  vi.spyOn(ThreadLink.prototype, 'register').mockImplementation(function (this: ThreadLink, lease: object) {
    const seat = register.call(this, lease)
    const place = seats.push({ words: new BigInt64Array(this.slots.memory), slot: seat.slot }) - 1
    // After the microtask that sends the claim.
    if (actions.has(place)) queueMicrotask(() => queueMicrotask(() => act(place)))
    return seat
  })
  const act = (place: number): void => {
    untilGranted(place)
    actions.get(place)?.()
  }
  const untilGranted = (place: number): void => {
    const seat = seats[place]
    if (seat === undefined) throw new Error(`lease ${place} has no seat in a thread`)
    for (let waited = 0; Atomics.load(seat.words, 2 * seat.slot) === 0n; waited += 1) {
      if (waited === LONGEST) throw new Error('the thread did not grant the lease')
      block(1)
    }
  }
  return {
    get count() {
      return seats.length
    },
    untilGranted,
    atGrant: (place, action) => void actions.set(place, action),
  }
}
