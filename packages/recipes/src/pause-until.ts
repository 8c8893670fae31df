import type { Clock } from '@leasehold/core'
import { AbortableCall, pause } from '@leasehold/core/store'

/** Waits for `duration` milliseconds, or until the signal aborts. Never rejects. */
export async function pauseUntil(clock: Clock, duration: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const call = new AbortableCall()
  const abort = (): void => call.abort()
  signal.addEventListener('abort', abort, { once: true })
  await pause(clock, duration, call).catch(() => {})
  signal.removeEventListener('abort', abort)
}
