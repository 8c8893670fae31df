import type { StoreCall } from '../store/store-call.js'

/** Rejects with the reason of the abort if that comes first. Leaves no listener on the call. */
export function untilAborted<T>(promise: Promise<T>, call: StoreCall): Promise<T> {
  return new Promise((resolve, reject) => {
    const removeListener = call.onAbort(() => reject(call.signal.reason))
    promise.then(resolve, reject).finally(removeListener)
  })
}
