import type { StoreCall } from '../store/store-call.js'

/** Settles as the promise does, or rejects with the reason of an earlier abort. Leaves no listener on the call. */
export function untilAborted<T>(promise: Promise<T>, call: StoreCall): Promise<T> {
  return new Promise((resolve, reject) => {
    const removeListener = call.onAbort(() => reject(call.signal.reason))
    void promise.then(resolve, reject).then(removeListener)
  })
}
