import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'

/** How long a slow machine may take for anything, in milliseconds. */
const PATIENCE = 30_000

/** Looks again and again until it holds. Rejects when it did not within 30 s; what it last failed with is the cause. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const until = systemClock.now() + PATIENCE
  for (;;) {
    const outcome = await holds().catch((error: Error) => error)
    if (outcome === true) return
    if (systemClock.now() > until) throw new Error(`not within ${PATIENCE} ms: ${what}`, { cause: outcome })
    await sleep(20)
  }
}
