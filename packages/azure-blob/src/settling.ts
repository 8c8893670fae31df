import { MessageChannel } from 'node:worker_threads'
import type { Clock } from '@leasehold/core'

/** The service tells times in whole seconds. */
const SECOND = 1_000

/**
 * Waits until the second of the last write is over, whichever part of it had passed. As a request does, and a timer of the
 * clock does not, it keeps the process alive: whoever awaits a lease gets an answer.
 */
export async function settling(clock: Clock, signal: AbortSignal): Promise<void> {
  const { port1: alive } = new MessageChannel()
  alive.ref()
  let end = (): void => {}
  try {
    await new Promise<void>((resolve, reject) => {
      const cancel = clock.schedule(SECOND, resolve)
      const onAbort = (): void => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      end = () => {
        cancel()
        signal.removeEventListener('abort', onAbort)
      }
    })
  } finally {
    end()
    alive.close()
  }
}
