import type { Clock } from './clock.js'

/** Settles as the promise does, or as `late` returns or throws when the time is over first. */
export async function inTime<T>(clock: Clock, limit: number, promise: Promise<T>, late: () => T): Promise<T> {
  let cancel = (): void => {}
  const timeout = new Promise<void>((resolve) => {
    cancel = clock.schedule(limit, resolve)
  })
  try {
    return await Promise.race([promise, timeout.then(late)])
  } finally {
    cancel()
  }
}

/** Resolves when all promises are settled, or when the time is over. */
export async function settledInTime(clock: Clock, limit: number, all: readonly Promise<unknown>[]): Promise<void> {
  await inTime<unknown>(clock, limit, Promise.allSettled(all), () => {})
}
