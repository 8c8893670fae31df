import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '@leasehold/core'
import { createSystemClock, inTime, keptAlive } from '@leasehold/core/internal'
import { VirtualClock, type VirtualClockOptions } from '../time/virtual-clock.js'
import { VirtualTime } from '../time/virtual-time.js'
import type { StoreSubject } from './store-subject.js'

/** For how many milliseconds a law in virtual time waits at most for a backend in another process. */
const PATIENCE = 10_000

/** The machine of a process of a trial. */
export interface Machine {
  readonly clock: Clock
  /** Its clock, where time is virtual: can be suspended, paused and set. */
  readonly virtual: VirtualClock | undefined
}

/** The time of one trial: virtual, so that it passes at once, or real. */
export interface PassingTime {
  readonly isVirtual: boolean
  /** One more machine; where time is real they are all this one. */
  createMachine(options?: Omit<VirtualClockOptions, 'time'>): Machine
  /** Lets `duration` milliseconds pass. */
  pass(duration: number): Promise<void>
  /** Lets time pass until the promise is settled, `longest` milliseconds at most; resolves and rejects as it does. */
  until<T>(promise: Promise<T>, longest: number): Promise<T>
}

/** The time of a trial. Virtual time stands still while a store is at work. */
export function timeOf(subject: Pick<StoreSubject, 'time' | 'remote'>, isBusy?: () => boolean): PassingTime {
  if (subject.time === 'real') return realTime
  const time = new VirtualTime({ isBusy, waitOutside: subject.remote === true ? waitForBackend : undefined })
  return {
    isVirtual: true,
    createMachine: (options) => {
      const virtual = new VirtualClock({ time, ...options })
      // The code that reads the clocks of real machines reads these.
      return { clock: createSystemClock(virtual.readings), virtual }
    },
    pass: (duration) => time.advance(duration),
    until: async (promise, longest) => {
      let isSettled = false
      const settle = (): void => {
        isSettled = true
      }
      promise.then(settle, settle)
      if (!(await time.advanceUntil(() => isSettled, longest))) throw late(longest)
      return await promise
    },
  }
}

/** Waits a moment for a backend that is at work; resolves with whether to look again. */
async function waitForBackend(looks: number): Promise<boolean> {
  if (looks >= PATIENCE) return false
  await sleep(1)
  return true
}

/** The time of this machine. Letting it pass waits, and keeps the process alive. */
const realTime: PassingTime = {
  isVirtual: false,
  createMachine: () => ({ clock: systemClock, virtual: undefined }),
  pass: (duration) => sleep(duration),
  until: async (promise, longest) => {
    const ended = inTime(systemClock, longest, promise, () => {
      throw late(longest)
    })
    return await keptAlive(systemClock, ended)
  },
}

/** Something that was waited for did not end. */
function late(longest: number): Error {
  return new Error(`it did not end within ${longest} ms`)
}
