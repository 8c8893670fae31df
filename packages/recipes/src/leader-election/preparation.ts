import type { Clock } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { backoff } from '@leasehold/core/store-kit'
import { pauseUntil } from '../waiting.js'

/** Makes a process ready to lead, such as by loading a cache. Its signal aborts with `stop()`. */
export type Prepare = (signal: AbortSignal) => unknown

/** The pauses after a failure, in milliseconds; half of each is random. */
const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 30_000

/** Repeats the preparation until it has succeeded, or the election is stopped. Never rejects. */
export async function prepared(
  prepare: Prepare,
  stopping: StoreCall,
  environment: { readonly clock: Clock; readonly random: () => number; readonly report: (error: unknown) => void },
): Promise<void> {
  const { clock, random, report } = environment
  for (let failures = 0; !stopping.aborted; failures += 1) {
    const stopped = new AbortableCall()
    const removeListener = stopping.onAbort(() => stopped.abort(stopping.signal.reason))
    try {
      // Preparation that ignores its signal must not hold up stop().
      await Promise.race([
        (async () => prepare(stopped.signal))(),
        new Promise<void>((resolve) => stopped.onAbort(resolve)),
      ])
      return
    } catch (error) {
      if (stopping.aborted) return
      report(error)
    } finally {
      removeListener()
    }
    await pauseUntil(clock, backoff(failures, FIRST_PAUSE, LONGEST_PAUSE, random), stopping)
  }
}
