/** A process that holds leases, never renews them, and works on after their end: `holder.cjs <task as JSON>`. */
import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { createLease, LeaseLostError } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { type HolderTask, machineTime, TTL } from './task.js'

const { fence, code, folder, names, file }: HolderTask = JSON.parse(process.argv[2] ?? '{}')

/** For how long it works. */
const DURATION = 2.5 * TTL

const output = openSync(file, 'w')
const time = new Float64Array(1)
const sleep = new Int32Array(new SharedArrayBuffer(4))

function work(): void {
  time[0] = machineTime()
  writeSync(output, time, 0, 8, 0)
}

/** In one turn of the event loop. It sleeps between two pieces of work, so that many runs fit on one machine. */
function workWithoutYielding(): void {
  for (const end = machineTime() + DURATION; machineTime() < end; Atomics.wait(sleep, 0, 0, 1)) work()
}

async function workOn(): Promise<never> {
  for (const end = machineTime() + DURATION; machineTime() < end; await pause(1)) work()
  process.exit()
}

function start(): void {
  const store = new LocalLeaseStore({ folder })
  let held = 0
  const onHeld = (): void => {
    held += 1
    if (held < names.length) return
    writeSync(1, 'held\n')
    if (code === 'ignores') return
    workWithoutYielding()
    process.exit()
  }
  for (const name of names) {
    const lease = createLease(store, name, { heartbeatTimeout: TTL, strategy: 'manual', selfFence: fence })
    const run = lease.run(async () => {
      onHeld()
      if (code === 'ignores') await workOn()
    })
    // The run ends with its lease, and the work goes on.
    run.catch((error) => {
      if (!(error instanceof LeaseLostError)) throw error
    })
  }
}

start()
