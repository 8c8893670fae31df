/**
 * `instance.ts FOLDER OWNER EVERY LENGTH`: an instance of a schedule whose ticks are EVERY milliseconds apart, and whose work
 * takes LENGTH milliseconds. SIGTERM stops it.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { Schedule } from '@leasehold/recipes'

const [folder = '', owner = '', every = '', length = '0'] = process.argv.slice(2)

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

// The child must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const schedule = new Schedule(new LocalLeaseStore({ folder }), {
  name: 'report',
  owner,
  every: Number(every),
  heartbeatTimeout: 2_000,
  heartbeatInterval: 300,
  operationTimeout: 500,
  logger: { debug() {}, info() {}, warn() {}, error: (message) => print({ event: 'error', message }) },
  work: async ({ due, byHand, signal }) => {
    print({ event: 'runs', due: due.getTime(), byHand: byHand?.id })
    signal.addEventListener('abort', () => print({ event: 'aborted', due: due.getTime() }))
    await pause(Number(length), undefined, { signal })
    print({ event: 'done', due: due.getTime() })
  },
})

process.on('SIGTERM', async () => {
  await schedule.stop()
  print({ event: 'stopped', last: (await schedule.read()).last?.outcome })
  process.exit()
})

schedule.start()
print({ event: 'started' })
