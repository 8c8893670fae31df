import { createLease, type LeaseStore, systemClock } from '@leasehold/core'
import { LeaderElection, PartitionGroup, ReadWriteLease, Schedule, Semaphore } from '@leasehold/recipes'

/** Short, so that a killed process is missed soon; long enough for a busy machine. */
const TIMES = { heartbeatTimeout: 6_000, heartbeatInterval: 1_000, operationTimeout: 1_500 }

/** What the fleet coordinates, by the names that stand in the store. */
export const FLEET = {
  lease: 'orders/import',
  election: 'invoices',
  schedule: 'nightly-report',
  semaphore: 'gpu',
  readWrite: 'catalogue',
  group: 'events',
  partitions: 6,
} as const

/** What the recipes with `start()` have in common. */
interface StartedWork {
  on(event: 'error', listener: () => void): unknown
  start(): void
  stop(): Promise<void>
}

export interface FleetWork {
  /** Gives up everything. */
  stop(): Promise<void>
}

/** What each process of the fleet does. The first that comes holds; the others wait. */
export function work(store: LeaseStore, owner: string): FleetWork {
  const leaseOptions = { owner, ...TIMES, logger: { debug() {}, info() {}, warn() {}, error() {} } }
  const environment = { ...leaseOptions, stopTimeout: 1_000 }
  const ending = new AbortController()
  const { signal } = ending

  const lease = createLease(store, FLEET.lease, leaseOptions)
  const metadata = { host: `${owner}.example.com`, version: '1.4.2' }
  const election = new LeaderElection(store, { ...environment, name: FLEET.election, rank: 1, onElected: untilAborted })
  const schedule = new Schedule(store, {
    ...environment,
    name: FLEET.schedule,
    every: 1_000,
    work: async (tick) => {
      await pause(200)
      if (tick.due.getTime() % 5_000 === 0) throw new Error('the printer is out of paper')
    },
  })
  const semaphore = new Semaphore(store, { ...environment, name: FLEET.semaphore, permits: 2 })
  const readWrite = new ReadWriteLease(store, { ...environment, name: FLEET.readWrite, readers: 5 })
  const group = new PartitionGroup(store, {
    ...environment,
    name: FLEET.group,
    partitions: FLEET.partitions,
    rebalanceInterval: 300,
    metadata: { host: `${owner}.example.com` },
    onAssigned: untilAborted,
  })
  const started: readonly StartedWork[] = [election, schedule, group]
  for (const recipe of started) {
    recipe.on('error', () => {})
    recipe.start()
  }
  const hold = (act: () => Promise<unknown>) => void holdAgain(act, signal)
  hold(() => lease.run(untilAborted, { wait: Number.POSITIVE_INFINITY, signal, metadata }))
  hold(() => semaphore.run(untilAborted, { wait: Number.POSITIVE_INFINITY, signal }))
  hold(() => readWrite.shared.run(untilAborted, { wait: Number.POSITIVE_INFINITY, signal }))
  return {
    stop: async () => {
      ending.abort()
      await Promise.allSettled([...started, semaphore, readWrite].map((recipe) => recipe.stop()))
      await lease.release().catch(() => {})
    },
  }

  function untilAborted(held: { readonly signal: AbortSignal }): Promise<void> {
    const both = AbortSignal.any([held.signal, signal])
    return new Promise((resolve) => {
      if (both.aborted) resolve()
      else both.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}

/** A holder whose lease is lost waits for it again, as a service does. */
async function holdAgain(act: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await act().catch(() => {})
    await pause(100)
  }
}

function pause(duration: number): Promise<void> {
  return new Promise((resolve) => systemClock.schedule(duration, resolve))
}
