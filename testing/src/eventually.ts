import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'

/** How long a slow machine may take for anything, in milliseconds. */
const LONGEST = 30_000

/** Repeats the check until it holds. Rejects if it does not within 30 s; the last failure of the check is the cause. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const until = systemClock.now() + LONGEST
  for (;;) {
    const outcome = await holds().catch((error: Error) => error)
    if (outcome === true) return
    if (systemClock.now() > until) throw new Error(`not within ${LONGEST} ms: ${what}`, { cause: outcome })
    await sleep(20)
  }
}
