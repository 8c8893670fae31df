import type { Clock } from '@leasehold/core'
import { inTime } from '@leasehold/core/internal'
import type { StoreCall } from '@leasehold/core/store'
import { pause } from '@leasehold/core/store-kit'

/** Waits for `duration` milliseconds, or until the call is aborted. Never rejects. */
export async function pauseUntil(clock: Clock, duration: number, call: StoreCall): Promise<void> {
  await pause(clock, duration, call).catch(() => {})
}

/**
 * Waits for the end of a task, for `duration` milliseconds at most. Resolves with whether it has ended by then; rejects as
 * the task does.
 */
export async function endsWithin(clock: Clock, duration: number, task: Promise<unknown>): Promise<boolean> {
  return await inTime(
    clock,
    duration,
    task.then(() => true),
    () => false,
  )
}
