import { MessageChannel } from 'node:worker_threads'
import type { Clock } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'

/** The times of the service are whole seconds. */
const SECOND = 1_000

/**
 * Waits for a second, after which the second of the last write is over. It keeps the process alive like a request, unlike
 * the timers of the clock: the caller waits for the answer.
 */
export async function settling(clock: Clock, call: StoreCall): Promise<void> {
  const { port1: alive } = new MessageChannel()
  alive.ref()
  let end = (): void => {}
  try {
    await new Promise<void>((resolve, reject) => {
      const cancel = clock.schedule(SECOND, resolve)
      const unlisten = call.onAbort(() => reject(call.signal.reason))
      end = () => {
        cancel()
        unlisten()
      }
    })
  } finally {
    end()
    alive.close()
  }
}
