import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { LeaderElection } from '@leasehold/recipes'

// The leases are files in this folder. For several machines, take the store of your database instead.
const store = new LocalLeaseStore({ folder: 'leases' })

const election = new LeaderElection(store, {
  name: 'my-first-leader',
  // A leader that dies is replaced after this time, in milliseconds.
  heartbeatTimeout: 5_000,
  onElected: async ({ signal, term }) => {
    console.log(`process ${process.pid} leads, term ${term}`)
    while (!signal.aborted) {
      console.log(`process ${process.pid} works`) // your work
      await pause(1_000)
    }
  },
})
election.on('error', console.error)
election.start()
console.log(`process ${process.pid} waits for its turn`)

// Ctrl-C: the other process leads at once. Without this, it waits for the 5 seconds.
process.once('SIGINT', async () => {
  await election.stop()
  process.exit()
})
