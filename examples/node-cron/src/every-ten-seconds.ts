import { LocalLeaseStore } from '@leasehold/local'
import { LeaseCoordinator } from '@leasehold/node-cron'
import cron from 'node-cron'

// Before the tasks: node-cron reads it when a task is made.
const store = new LocalLeaseStore({ folder: 'leases' })
cron.setRunCoordinator(new LeaseCoordinator(store))

// Every instance does this. At each tick, one of them works.
cron.schedule(
  '*/10 * * * * *', // every ten seconds; '0 3 * * *' is at three o'clock
  ({ date }) => console.log(`process ${process.pid} works for ${date.toISOString()}`), // your work
  { name: 'report', distributed: true },
)
