import { systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'

/** A call with a time limit, in milliseconds. */
export function within(duration: number): AbortableCall {
  const call = new AbortableCall(duration)
  systemClock.schedule(duration, () => call.abort(new Error(`not within ${duration} ms`)))
  return call
}

/** Resolves after this time, in milliseconds. */
export function passed(duration: number): Promise<void> {
  return new Promise((resolve) => void systemClock.schedule(duration, resolve))
}
