import type { StoreCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'

/** Waits for `duration` milliseconds. Rejects with the reason of the abort when the call is aborted first. */
export async function pause(clock: Clock, duration: number, call: StoreCall): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.schedule(duration, () => {
      removeListener()
      resolve()
    })
    const removeListener = call.onAbort(() => {
      cancel()
      reject(call.signal.reason)
    })
  })
}
