import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import cron from 'node-cron'
import { scheduleReport } from './schedule-report.js'

const [folder = ''] = process.argv.slice(2)

/** One instance of a service. It answers each request with the ticks that it has run. */
const runs: string[] = []
const store = new LocalLeaseStore({ folder })
const coordinator = scheduleReport(store, '* * * * * *', async (due) => {
  runs.push(due.toISOString())
  await pause(300)
})
const server = createServer((_request, response) => response.end(JSON.stringify(runs)))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.send?.((server.address() as AddressInfo).port)

// #region stop
process.once('SIGTERM', async () => {
  // Waits for the runs in progress, and frees their tasks.
  await cron.shutdown(5_000)
  await coordinator.stop()
  await store.close()
  process.exit()
})
// #endregion stop

// The instance must not outlive the example.
process.once('disconnect', () => process.exit())
