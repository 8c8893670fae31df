// #region handler
import { createLease, LeaseHeldError, type LeaseStore } from '@leasehold/core'

/** What a function needs. `send` passes the token on to the resource, which rejects a token that is too old. */
export interface Reminders {
  due(): Promise<readonly string[]>
  send(reminder: string, token: bigint): Promise<void>
}

/** One invocation. It acquires the lease, works, and releases it: nothing is held between two invocations. */
export async function sendReminders(store: LeaseStore, reminders: Reminders): Promise<string> {
  // A minute is longer than the function may run. So no heartbeat is needed, and none is sent.
  const lease = createLease(store, 'reminders', { heartbeatTimeout: 60_000, strategy: 'manual' })
  try {
    return await lease.run(async (held) => {
      let sent = 0
      for (const reminder of await reminders.due()) {
        // The platform may have frozen the process during any await. This compares clocks, and needs no timer.
        if (!held.checkLease()) return `sent ${sent}, then the lease was over`
        await reminders.send(reminder, held.fencingToken)
        sent += 1
      }
      return `sent ${sent}`
    })
  } catch (error) {
    if (error instanceof LeaseHeldError) return 'another invocation is at work'
    throw error
  }
}
// #endregion handler
