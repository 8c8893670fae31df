/**
 * A promise that a law awaits later. If the law ends before, by a rejection that came first, this one is no unhandled rejection
 * of the process: over a store that rejects everything, the laws then fail one by one.
 */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
