import type { Clock } from '../clock.js'
import { systemClock } from '../system-clock.js'

/** For how long to wait, and the outcome when the time is up. */
export interface TimeLimit<T> {
  readonly clock: Clock
  /** In milliseconds. */
  readonly limit: number
  /** The error to reject with. */
  readonly error: () => Error
  /** Receives a value that arrives after the limit. */
  readonly late: (value: T) => void
}

/** Settles as the promise does, or rejects when the time is up, whichever comes first. */
export function withTimeLimit<T>(promise: Promise<T>, { clock, limit, error, late }: TimeLimit<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const cancel = startTimer(clock, limit, () => {
      isOver = true
      reject(error())
    })
    const settled = (value: T): void => {
      cancel()
      if (isOver) late(value)
      else resolve(value)
    }
    promise.then(settled, (reason: unknown) => {
      cancel()
      reject(reason)
    })
  })
}

/** Calls back after a delay in milliseconds, also where the clock given is defective; returns a function that cancels. */
export function startTimer(clock: Clock, delay: number, task: () => void): () => void {
  let cancel: unknown
  try {
    cancel = clock.schedule(delay, task)
  } catch {
    cancel = systemClock.schedule(delay, task)
  }
  return () => {
    try {
      if (typeof cancel === 'function') cancel()
    } catch {
      // The task finds that its time has passed and does nothing.
    }
  }
}
