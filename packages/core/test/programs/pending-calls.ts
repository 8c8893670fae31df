import {
  breakLease,
  createLease,
  LeaseProvider,
  listLeases,
  MemoryLeaseStore,
  readLease,
  systemClock,
} from '@leasehold/core'
import { FaultyStore } from '@leasehold/testkit'

/** Milliseconds. */
const LATENCY = 40

/** Does not keep the process alive, as a store that waits for its server may not. */
const late = (): Promise<void> => new Promise((resolve) => void systemClock.schedule(LATENCY, resolve))

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

const store = new FaultyStore(new MemoryLeaseStore(), { plan: () => ({ kind: 'delay', duration: LATENCY }) })
const times = { heartbeatInterval: 1_000, heartbeatTimeout: 10_000, operationTimeout: 2_000 }
const lease = createLease(store, 'job', times)
const other = createLease(store, 'job', { ...times, owner: 'other' })

/** Each call of a user, in an order in which each is possible. */
const calls: Record<string, () => Promise<unknown>> = {
  acquire: () => lease.acquire(),
  renew: () => lease.renew(),
  update: () => lease.update({ position: '7' }),
  holder: () => other.holder(),
  readLease: () => readLease(store, 'job'),
  listLeases: () => listLeases(store).next(),
  'acquire that waits': () => other.acquire({ wait: 200 }),
  release: () => lease.release(),
  run: () => lease.run(late),
  'handOff and adopt': async () => {
    await lease.acquire()
    await other.adopt(await lease.handOff({ owner: 'other' }))
  },
  breakLease: () => breakLease(store, 'job', { period: 0 }),
  close: () => other.close(),
  getLease: () => new LeaseProvider({ job: { leaseClass: 'slow' } }, { slow: makeLate }).getLease('slow', 'job'),
}

async function makeLate(): Promise<typeof lease> {
  await late()
  return lease
}

for (const [name, call] of Object.entries(calls)) {
  await call()
  print(name)
}

// The process must not wait for any of these.
await lease.acquire()
const waiting = createLease(store, 'job', { ...times, owner: 'waiting' })
waiting.acquire({ wait: Number.POSITIVE_INFINITY, keepAlive: false }).catch(() => {})
process.on('exit', (code) => print(`held: ${lease.checkLease()}, exit code ${code}`))
