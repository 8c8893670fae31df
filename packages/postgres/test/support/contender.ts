/** A process of its own that contends for leases until its parent ends it: `contender.ts <contest as JSON>`. */

import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, type StoreLease } from '@leasehold/core'
import { machineTime } from '@leasehold/core/store-kit'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { Pool } from 'pg'
import type { Contest } from './fleet.js'

const { port, owner, names, times, work, connections, options } = JSON.parse(process.argv[2] ?? '') as Contest
// It must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: connections })
pool.on('error', () => {})
const store = new PostgresLeaseStore(pool, options)

/** Looks often whether it holds, and says since when and until when it did. */
async function workUnder(name: string, lease: StoreLease): Promise<void> {
  const token = lease.fencingToken
  if (!lease.checkLease()) return
  const from = machineTime()
  for (let saidAt = 0; ; ) {
    // Before the look: at some later instant it still held.
    const to = machineTime()
    if (!lease.checkLease() || lease.fencingToken !== token) return
    const isDone = to - from > work
    if (isDone || to - saidAt > 20) {
      process.stdout.write(`${JSON.stringify({ name, owner, token: String(token), from, to })}\n`)
      saidAt = to
    }
    if (isDone) return
    await sleep(2)
  }
}

async function contend(name: string): Promise<never> {
  const lease = createLease(store, name, { ...times, owner })
  lease.on('error', () => {})
  for (;;) {
    try {
      if (await lease.acquire({ wait: 60_000 })) await workUnder(name, lease)
      await lease.release()
    } catch {
      // The server or the way to it has a fault: it goes on as soon as it can.
      await sleep(50)
    }
  }
}

process.stdout.write('contends\n')
await Promise.all(names.map(contend))
