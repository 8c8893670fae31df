import { MemoryLeaseStore, systemClock } from '@leasehold/core'
import { LeaderElection, PartitionGroup, Schedule } from '@leasehold/recipes'

/** Milliseconds until the recipe is stopped, by a timer that does not keep the process alive. */
const RUNNING = 400

const [, , kind = '', keepAlive = 'true'] = process.argv
const store = new MemoryLeaseStore()
const options = { name: 'job', keepAlive: keepAlive === 'true' }

const recipes: Record<string, () => { start(): unknown; stop(): Promise<void> }> = {
  election: () => new LeaderElection(store, options),
  candidate: () => {
    new LeaderElection(store, { name: 'job', keepAlive: false, owner: 'leader' }).start()
    return new LeaderElection(store, options)
  },
  schedule: () => new Schedule(store, { ...options, cron: '0 3 * * *', work: () => undefined }),
  // The store never answers a look at the wishes of operators.
  'schedule without answers': () =>
    new Schedule(Object.assign(new MemoryLeaseStore(), { read: () => new Promise<never>(() => {}) }), {
      ...options,
      cron: '0 3 * * *',
      work: () => undefined,
    }),
  partitions: () =>
    new PartitionGroup(store, { ...options, partitions: 2, onAssigned: () => new Promise(() => {}), stopTimeout: 0 }),
}

const recipe = recipes[kind]?.()
recipe?.start()
systemClock.schedule(RUNNING, () => void recipe?.stop().then(() => process.stdout.write('stopped\n')))
