import { LocalLeaseStore } from '@leasehold/local'
import { Schedule } from '@leasehold/recipes'

const store = new LocalLeaseStore({ folder: 'leases' })

// Every instance does this. At each tick, one of them works.
const schedule = new Schedule(store, {
  name: 'report',
  cron: '*/10 * * * * *', // every ten seconds; '30 2 * * *' is at half past two
  timeZone: 'Europe/Berlin',
  work: async ({ due }) => console.log(`process ${process.pid} works for ${due.toISOString()}`), // your work
})
schedule.start()

process.once('SIGINT', async () => {
  await schedule.stop()
  await store.close()
})
