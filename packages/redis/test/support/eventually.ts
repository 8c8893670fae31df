import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'

/** How long a slow machine may take for anything, in milliseconds. */
const PATIENCE = 30_000

/** Checks again and again. Rejects if the condition does not hold within 30 s; the cause is the last failure. */
export async function eventually(condition: string, holds: () => Promise<boolean>): Promise<void> {
  const until = systemClock.now() + PATIENCE
  for (;;) {
    const outcome = await holds().catch((error: Error) => error)
    if (outcome === true) return
    if (systemClock.now() > until) throw new Error(`not within ${PATIENCE} ms: ${condition}`, { cause: outcome })
    await sleep(20)
  }
}
