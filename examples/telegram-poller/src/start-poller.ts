// #region poller
import type { LeaseStore } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'

/** A bot of grammY, or of another library: `start` resolves when it polls no more. */
export interface Bot {
  start(): Promise<void>
  stop(): Promise<void>
}

/** Every instance calls this. One polls; the others wait for their turn. */
export function startPoller(store: LeaseStore, owner: string, createBot: () => Bot): LeaderElection {
  const election = new LeaderElection(store, {
    name: 'telegram-poller',
    owner,
    heartbeatTimeout: 6_000,
    // Others see that this instance is ready, and can hand the lease over to it.
    advertise: true,
    onElected: async ({ signal }) => {
      if (signal.aborted) return
      // A new one for each term, so that nothing of the last term is left in it.
      const bot = createBot()
      let stopped: Promise<void> | undefined
      signal.addEventListener('abort', () => {
        // If the last confirmation fails, updates come again: that is not the end of the process.
        stopped = bot.stop().catch(() => {})
      })
      try {
        // If polling ends, for whatever reason, so does the term: another instance, or this one, polls after a pause.
        await bot.start()
      } finally {
        // The last request of this bot, too, is over before another one polls.
        await stopped
      }
    },
  })
  election.on('error', (error) => console.error(`${owner}:`, error))
  election.start()
  return election
}
// #endregion poller
