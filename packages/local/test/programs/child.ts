/** The program of the tests with several processes: `child.cjs FOLDER MODE …`. */

import { createLease } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { machineTime } from '@leasehold/core/store-kit'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'

const [folder = '', mode, name = 'job'] = process.argv.slice(2)

function print(message: object): void {
  process.stdout.write(`${JSON.stringify({ ...message, at: machineTime() })}\n`)
}

// The child must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

async function run(): Promise<void> {
  try {
    if (mode === 'reopen') {
      // As often as it can, until it is killed.
      for (let opened = 1; ; opened += 1) {
        const store = new LocalLeaseStore({ folder })
        await store.read(name, new AbortableCall())
        await store.close()
        if (opened % 10 === 0) print({ opened })
      }
    }
    if (mode === 'exit') new LocalGuard({ folder }).transact(name, 1n, () => process.exit(7))
    const store = new LocalLeaseStore({ folder })
    const times = { heartbeatTimeout: 2_000, heartbeatInterval: 400, operationTimeout: 500 }
    const lease = createLease(store, name, times)
    if (mode === 'cycle') {
      // As fast as it can, until it is killed.
      for (;;) {
        if (!(await lease.acquire({ wait: 60_000 }))) continue
        print({ token: String(lease.fencingToken) })
        await lease.release()
      }
    }
    if (mode === 'hold' || mode === 'wait') {
      // Before the grant: the test may send the signal as soon as it reads the line.
      process.on('SIGTERM', async () => {
        print({ releasing: true })
        await lease.release()
        print({ released: true })
        process.exit()
      })
      lease.on('renewed', () => print({ renewed: true }))
      const waiting = lease.acquire(mode === 'wait' ? { wait: 60_000 } : {})
      if (mode === 'wait') print({ waiting: true })
      const granted = await waiting
      print({ granted, token: String(lease.fencingToken), remaining: lease.remaining })
    }
    if (mode === 'try') {
      print({ granted: await lease.acquire() })
      process.exit()
    }
  } catch (error) {
    const { name: kind, message } = error as Error
    print({ error: kind, message })
    process.exit()
  }
}

void run()
