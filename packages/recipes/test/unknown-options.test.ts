import { MemoryLeaseStore } from '@leasehold/core'
import { LeaderElection, Once, PartitionGroup, ReadWriteLease, Schedule, Semaphore } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'

const store = new MemoryLeaseStore()

/** A row: the class, the mistyped option and the option that is meant. */
describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['LeaderElection', 'onElect', 'onElected', (o: object) => new LeaderElection(store, { name: 'job', ...o })],
    ['LeaderElection', 'heartbeatTimout', 'heartbeatTimeout', (o: object) => new LeaderElection(store, o as never)],
    [
      'PartitionGroup',
      'partition',
      'partitions',
      (o: object) => new PartitionGroup(store, { name: 'log', ...o } as never),
    ],
    ['PartitionGroup', 'drainTimout', 'drainTimeout', (o: object) => new PartitionGroup(store, o as never)],
    ['Once', 'nam', 'name', (o: object) => new Once(store, o)],
    ['Schedule', 'corn', 'cron', (o: object) => new Schedule(store, { name: 'job', work: () => {}, ...o })],
    ['Semaphore', 'permit', 'permits', (o: object) => new Semaphore(store, { name: 'job', permits: 2, ...o })],
    [
      'ReadWriteLease',
      'reader',
      'readers',
      (o: object) => new ReadWriteLease(store, { name: 'job', readers: 2, ...o }),
    ],
  ] as [string, string, string, (options: object) => unknown][])('%s: %s, meant is %s', (taker, option, meant, use) => {
    expect(() => use({ [option]: 1 })).toThrow(
      expect.objectContaining({
        name: 'LeaseConfigurationError',
        message: `${taker} has no option '${option}': did you mean '${meant}'?`,
      }),
    )
  })
})
