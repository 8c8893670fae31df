import './ahead.js'
import process from 'node:process'
import { LocalLeaseStore } from '@leasehold/local'
import { LeaseCoordinator } from '@leasehold/node-cron'
import cron from 'node-cron'

const [, , , folder = ''] = process.argv

/** An instance with a tick every two seconds. It sends each tick that it runs, and each that it came to too late. */
cron.setRunCoordinator(new LeaseCoordinator(new LocalLeaseStore({ folder })))
const task = cron.schedule('*/2 * * * * *', ({ date }) => send('runs', date), {
  name: 'report',
  distributed: true,
  distributedLease: 5_000,
  missedExecutionTolerance: 2_000,
})
task.on('execution:missed', ({ date }) => send('missed', date))
process.send?.({ event: 'started' })

function send(event: string, at: Date): void {
  process.send?.({ event, at: at.getTime() })
}

process.once('disconnect', () => process.exit())
