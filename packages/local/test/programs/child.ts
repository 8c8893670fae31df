/** What the tests of several processes run in each: `child.cjs FOLDER MODE …`. */
import { AbortableCall, createLease } from '@leasehold/core'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'
import { monotonicClock } from '../../src/wall-clock.js'

const [folder = '', mode, name = 'job'] = process.argv.slice(2)

function tell(message: object): void {
  process.stdout.write(`${JSON.stringify({ ...message, at: monotonicClock() })}\n`)
}

// Not one line of the child is to be lost when it is killed, and it must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

async function run(): Promise<void> {
  try {
    if (mode === 'reopen') {
      // As often as it can, until it is killed: each time the last of the folder to close it, or not.
      for (let opened = 1; ; opened += 1) {
        const store = new LocalLeaseStore({ folder })
        await store.read(name, new AbortableCall())
        await store.close()
        if (opened % 10 === 0) tell({ opened })
      }
    }
    if (mode === 'exit') new LocalGuard({ folder }).run(name, 1n, () => process.exit(7))
    const store = new LocalLeaseStore({ folder })
    const times = { heartbeatTimeout: 2_000, heartbeatInterval: 400, operationTimeout: 500 }
    const lease = createLease(store, name, times)
    if (mode === 'cycle') {
      // As fast as it can, until it is killed.
      for (;;) {
        if (!(await lease.acquire({ wait: 60_000 }))) continue
        tell({ token: String(lease.fencingToken) })
        await lease.release()
      }
    }
    if (mode === 'hold' || mode === 'wait') {
      // Before it is granted: whoever reads that it was may send the signal at once.
      process.on('SIGTERM', async () => {
        tell({ releasing: true })
        await lease.release()
        tell({ released: true })
        process.exit()
      })
      lease.on('renewed', () => tell({ renewed: true }))
      const waiting = lease.acquire(mode === 'wait' ? { wait: 60_000 } : {})
      if (mode === 'wait') tell({ waiting: true })
      const granted = await waiting
      tell({ granted, token: String(lease.fencingToken), remaining: lease.remaining })
    }
    if (mode === 'try') {
      tell({ granted: await lease.acquire() })
      process.exit()
    }
  } catch (error) {
    const { name: kind, message } = error as Error
    tell({ error: kind, message })
    process.exit()
  }
}

void run()
