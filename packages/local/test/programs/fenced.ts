/**
 * `fenced.cjs FOLDER MODE LEASE TTL FENCE`: holds a lease that it never renews, works under it, and writes the time of its
 * last work to the file `LEASE.work`, whatever becomes of the lease. It has worked once before it says that it was granted.
 */

import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type CreateLeaseOptions, createLease } from '@leasehold/core'
import { machineTime } from '@leasehold/core/store-kit'
import { LocalLeaseStore } from '@leasehold/local'
// It is a part of the bundle, which is not beside the packages.
import '@leasehold/self-fence'

const [folder = '', mode = '', name = '', ttl = '', fence = ''] = process.argv.slice(2)
const TTL = Number(ttl)

function print(message: object): void {
  // At once: the process may be killed at any instant.
  writeSync(1, `${JSON.stringify({ ...message, at: machineTime() })}\n`)
}

// The child must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const file = openSync(join(folder, `${name}.work`), 'w')
const time = new Float64Array(1)

function work(): void {
  time[0] = machineTime()
  writeSync(file, time, 0, 8, 0)
}

const sleep = new Int32Array(new SharedArrayBuffer(4))

/** Blocks the thread, without taking the time of the machine from other tests. */
function workWithoutYielding(duration: number): void {
  for (const end = machineTime() + duration; machineTime() < end; Atomics.wait(sleep, 0, 0, 1)) work()
}

async function workOnAndOn(): Promise<never> {
  for (;;) {
    work()
    await pause(1)
  }
}

const selfFence = (fence === '' ? undefined : fence) as CreateLeaseOptions['selfFence']
const store = new LocalLeaseStore({ folder })
const lease = createLease(store, name, { heartbeatTimeout: TTL, strategy: 'manual', selfFence })

function printGrant(): void {
  work()
  print({ granted: true, remaining: lease.remaining })
}

/** Code under the lease, and whether it ends. */
const programs: Readonly<Record<string, () => Promise<void>>> = {
  async 'blocks the thread'() {
    await lease.acquire()
    printGrant()
    workWithoutYielding(2 * TTL)
  },
  async 'blocks the thread in its onLost callback'() {
    await lease.acquire({ onLost: () => workWithoutYielding(2 * TTL) })
    printGrant()
  },
  async 'ignores the signal of its run'() {
    const run = lease.run(async () => {
      printGrant()
      await workOnAndOn()
    })
    await run.catch(() => print({ lost: true }))
  },
  async 'ignores the signal, and handles SIGTERM'() {
    process.on('SIGTERM', () => print({ asked: true }))
    await programs['ignores the signal of its run']?.()
  },
  async 'obeys the signal of its run'() {
    const run = lease.run(async ({ signal }) => {
      printGrant()
      while (!signal.aborted) {
        work()
        await pause(1)
      }
    })
    await run.catch(() => print({ lost: true }))
  },
  async 'has nothing more to do'() {
    process.stdin.unref()
    await lease.acquire()
    printGrant()
  },
  async 'has a callback'() {
    await lease.acquire({ onLost: () => print({ lost: true }) })
    printGrant()
  },
  async 'renews, and works on'() {
    await lease.acquire()
    printGrant()
    const end = machineTime() + 1.5 * TTL
    while (machineTime() < end) {
      workWithoutYielding(TTL / 10)
      await lease.renew()
    }
    print({ valid: lease.checkLease() })
    await lease.release()
  },
  async 'releases, and blocks the thread'() {
    await lease.acquire()
    printGrant()
    await lease.release()
    workWithoutYielding(1.2 * TTL)
  },
}

async function start(): Promise<void> {
  await programs[mode]?.()
  // As long as a fence could still end the process.
  await pause(TTL, undefined, { ref: !mode.includes('nothing') })
  print({ alive: true })
}

void start()
