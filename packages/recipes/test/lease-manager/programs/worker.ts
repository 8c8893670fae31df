/**
 * `worker.ts FOLDER OWNER LENGTH`: does the jobs a, b and c, which take LENGTH milliseconds each, with other processes.
 * SIGTERM closes the manager.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { LeaseManager } from '@leasehold/recipes'

const [folder = '', owner = '', length = '0'] = process.argv.slice(2)

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

// The child must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const store = new LocalLeaseStore({ folder })
const times = { heartbeatTimeout: 2_000, heartbeatInterval: 300, operationTimeout: 500 }
const manager = new LeaseManager(store, { owner, ...times })
manager.on('lost', (name, { reason }) => print({ event: 'lost', name, reason }))

process.on('SIGTERM', async () => {
  await manager.stop()
  print({ event: 'closed' })
  process.exit()
})

try {
  const { done, doneElsewhere } = await manager.processEach(['a', 'b', 'c'], async (job, { signal, fencingToken }) => {
    print({ event: 'works', job, token: String(fencingToken) })
    await pause(Number(length), undefined, { signal })
  })
  print({ event: 'finished', done: done.join(), doneElsewhere: doneElsewhere.join() })
} catch (error) {
  print({ event: 'error', error: (error as Error).name })
}
