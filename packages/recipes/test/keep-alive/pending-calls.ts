import { createLease, MemoryLeaseStore, systemClock } from '@leasehold/core'
import {
  AllOf,
  createLockManager,
  LeaseManager,
  listSchedules,
  Once,
  ReadWriteLease,
  ScheduleControl,
  Semaphore,
  SingleFlight,
} from '@leasehold/recipes'
import { FaultyStore } from '@leasehold/testkit'

/** Milliseconds. */
const LATENCY = 20

/** Does not keep the process alive. */
const late = (): Promise<void> => new Promise((resolve) => void systemClock.schedule(LATENCY, resolve))

const store = new FaultyStore(new MemoryLeaseStore(), { plan: () => ({ kind: 'delay', duration: LATENCY }) })
const once = new Once(store, { name: 'once' })
const flight = new SingleFlight(store, { name: 'flight' })
const semaphore = new Semaphore(store, { name: 'permits', permits: 1 })
const other = new Semaphore(store, { name: 'permits', permits: 1 })
const books = new ReadWriteLease(store, { name: 'books', readers: 2 })
const manager = new LeaseManager(store, { name: 'jobs' })
const locks = createLockManager(store)
const otherLocks = createLockManager(store)
const control = new ScheduleControl(store, 'report')
const both = new AllOf([createLease(store, 'a'), createLease(store, 'b')])

/** Each call of a user, in an order in which each is possible. */
const calls: Record<string, () => Promise<unknown>> = {
  'once.run': () => once.run('key', late),
  'once.read': () => once.read('key'),
  'once.forget': () => once.forget('key'),
  'flight.get': () => flight.get('key', () => late().then(() => 1), { freshFor: 60_000 }),
  'flight.read': () => flight.read('key'),
  'flight.forget': () => flight.forget('key'),
  'flight.stop': () => flight.stop(),
  'semaphore.run': () => semaphore.run(late),
  'semaphore.acquire': () => semaphore.acquire(),
  'semaphore.acquire that waits': () => other.acquire({ wait: 200 }),
  'semaphore.stop': () => semaphore.stop(),
  'semaphore.resize': () => other.resize(2),
  'shared.run': () => books.shared.run(late),
  'exclusive.run': () => books.exclusive.run(late),
  'locks.request': () => locks.request('a', late),
  'locks.request that waits': async () => {
    const held = locks.request('a', { mode: 'shared' }, late)
    await Promise.all([held, otherLocks.request('a', late)])
  },
  'locks.query': () => locks.query(),
  'locks.stop': () => locks.stop(),
  'AllOf acquire': () => both.acquire(),
  'AllOf release': () => both.release(),
  claimFirst: () => manager.claimFirst(['one']),
  'claimFirst that waits': () => manager.claimFirst(['one'], { wait: 200 }),
  processEach: () => manager.processEach(['x', 'y'], late),
  'manager.stop': () => manager.stop(),
  pause: () => control.pause({ reason: 'maintenance' }),
  resume: () => control.resume(),
  runNow: () => control.runNow(),
  'control.read': () => control.read(),
  skip: () => control.skip('2099-01-01').catch(() => {}),
  listSchedules: () => listSchedules(store),
}

for (const [name, call] of Object.entries(calls)) {
  await call()
  process.stdout.write(`${name}\n`)
}
process.stdout.write('end\n')
