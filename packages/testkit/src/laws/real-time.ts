import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { late, type PassingTime } from './passing-time.js'

/** For how many milliseconds a law in virtual time waits at most for a backend in another process. */
const PATIENCE = 10_000

/** Waits a moment for a backend that is at work; resolves with whether to look again. */
export async function waitForBackend(looks: number): Promise<boolean> {
  if (looks >= PATIENCE) return false
  await sleep(1)
  return true
}

/** The time of this machine. Letting it pass waits, and keeps the process alive. */
export const realTime: PassingTime = {
  isVirtual: false,
  createMachine: () => ({ clock: systemClock, virtual: undefined }),
  pass: (duration) => sleep(duration),
  until: async (promise, longest) => {
    const ended = new AbortController()
    try {
      const limit = sleep(longest, undefined, { signal: ended.signal }).then(() => {
        throw late(longest)
      })
      return await Promise.race([promise, limit])
    } finally {
      ended.abort()
    }
  },
}
