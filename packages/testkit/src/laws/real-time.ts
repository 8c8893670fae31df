import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { late, type PassingTime } from './passing-time.js'

/** The time of this machine: who lets it pass waits, and keeps the process alive meanwhile. */
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
