import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { createLease, MemoryLeaseStore, type StoreLease } from '@leasehold/core'
import type { Measurement } from './support/measurement.js'

const LEASES = 100_000
const TIMES = { heartbeatTimeout: 10_000, heartbeatInterval: 3_000, operationTimeout: 900 }

/** Many leases held at once: what each costs in memory, and what their heartbeats do to the event loop. */
export async function measureHeldLeases(): Promise<readonly Measurement[]> {
  const store = new MemoryLeaseStore()
  let renewals = 0
  const renewMany = store.renewMany.bind(store)
  store.renewMany = (grants, signal) => {
    renewals += grants.length
    return renewMany(grants, signal)
  }
  const before = heapUsed()
  const leases: StoreLease[] = []
  for (let place = 0; place < LEASES; place += 1) {
    const lease = createLease(store, `lease-${place}`, TIMES)
    leases.push(lease)
    await lease.acquire()
    // Made over a second or two, as a program would, not in one turn of the event loop.
    if (place % 500 === 499) await pause(5)
  }
  await pause(TIMES.heartbeatInterval)
  const bytes = (heapUsed() - before) / LEASES
  const delay = monitorEventLoopDelay({ resolution: 1 })
  renewals = 0
  delay.enable()
  await pause(2 * TIMES.heartbeatTimeout)
  delay.disable()
  const held = leases.filter((lease) => lease.checkLease()).length
  const beating = renewals / LEASES
  for (const lease of leases) await lease.close()
  return [
    {
      what: `leases still held of ${LEASES.toLocaleString('en')}, after two ttls`,
      value: held,
      unit: '',
      atLeast: LEASES,
    },
    { what: 'heartbeats a lease in that time', value: beating, unit: '', atLeast: 6 },
    { what: 'heap a held lease', value: bytes, unit: 'bytes', atMost: 1_500 },
    { what: 'p99 delay of the event loop', value: delay.percentile(99) / 1e6, unit: 'ms', atMost: 20 },
  ]
}

function heapUsed(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
