import type { Clock } from '../clock.js'

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
    const cancel = clock.schedule(limit, () => {
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
