import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, durations, MemoryLeaseStore } from '@leasehold/core'

const store = new MemoryLeaseStore()

async function readMailbox(owner) {
  const lease = createLease(store, 'mailbox', { owner, ...durations.leaderElection })
  await lease.run(
    async ({ signal, fencingToken }) => {
      console.log(`${owner}'s turn, token ${fencingToken}`)
      // Your work. Pass the signal on, and send the token with each write.
      await sleep(3_000, undefined, { signal })
      console.log(`${owner} is done`)
    },
    { wait: 60_000 },
  )
}

await Promise.all([readMailbox('anna'), readMailbox('ben')])
