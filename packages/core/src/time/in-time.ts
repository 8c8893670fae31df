import type { Clock } from './clock.js'

/** Settles as the promise does, or rejects with the error of `late` when the time is over. */
export async function inTime<T>(clock: Clock, limit: number, promise: Promise<T>, late: () => Error): Promise<T> {
  let cancel = (): void => {}
  const timeout = new Promise<never>((_, reject) => {
    cancel = clock.schedule(limit, () => reject(late()))
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    cancel()
  }
}

/** Resolves when all promises are settled, or when the time is over. */
export async function settledInTime(clock: Clock, limit: number, all: readonly Promise<unknown>[]): Promise<void> {
  await inTime(clock, limit, Promise.allSettled(all), () => new Error('some did not end in time')).catch(() => {})
}
