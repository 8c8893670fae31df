import type { LeaseStore } from '@leasehold/core'
import type { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { vi } from 'vitest'
import { ThreadLink } from '../../src/thread-link.js'
import { block } from './block.js'

/** How long a thread may take for a grant, in milliseconds. */
const LONGEST = 30_000
/** How long its answer may take from the store to the message. */
const ANSWER = 20

const MOST_CLAIMS = 1_000

const counting = `${new URL('counting-lease.ts', import.meta.url).pathname}#countingLease`

interface Claims {
  /** How many claims were sent. */
  readonly count: number
  /** Opens a store in memory in the thread, whose grants are seen here. */
  readonly open: (thread: HeartbeatThread) => Promise<LeaseStore>
  /** Blocks this thread until the store has granted the claim with this place. */
  readonly untilGranted: (place: number) => void
  /** Blocks when the claim with this place was sent, until that is granted, and then calls `action`. */
  readonly atGrant: (place: number, action: () => void) => void
}

/**
 * Sees the claims that are sent to a store in a heartbeat thread from now on, and gives each its place. While this thread is
 * blocked until one is granted, the answer is on its way here: it crosses every message that is sent before it is read.
 */
export function seeGrantsInThreads(): Claims {
  const granted = new Int32Array(new SharedArrayBuffer(4 * MOST_CLAIMS))
  const actions = new Map<number, () => void>()
  let count = 0
  const { ask } = ThreadLink.prototype
  vi.spyOn(ThreadLink.prototype, 'ask').mockImplementation(function (this: ThreadLink, request, onItem) {
    if (request.type === 'call' && request.method === 'acquire') {
      const place = count
      count += 1
      // After the microtask that sends the claim.
      if (actions.has(place)) queueMicrotask(() => queueMicrotask(() => act(place)))
    }
    return ask.call(this, request, onItem)
  })
  const act = (place: number): void => {
    untilGranted(place)
    actions.get(place)?.()
  }
  const untilGranted = (place: number): void => {
    for (let waited = 0; Atomics.load(granted, place) === 0; waited += 1) {
      if (waited === LONGEST) throw new Error('the thread did not grant the lease')
      block(1)
    }
    block(ANSWER)
  }
  return {
    get count() {
      return count
    },
    open: async (thread) => await thread.open({ leaseClass: counting, options: { granted: granted.buffer } }),
    untilGranted,
    atGrant: (place, action) => void actions.set(place, action),
  }
}
