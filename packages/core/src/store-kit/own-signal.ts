import type { StoreCall } from '../store/store-call.js'

/**
 * Sends a request with a signal of its own, which the call aborts: clients of HTTP leave listeners on a signal. Rejects with
 * the reason of the call's abort, if it was aborted.
 */
export async function withOwnSignal<T>(call: StoreCall, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const unlisten = call.onAbort(() => controller.abort(call.signal.reason))
  try {
    return await send(controller.signal)
  } catch (error) {
    throw call.aborted ? call.signal.reason : error
  } finally {
    unlisten()
  }
}
