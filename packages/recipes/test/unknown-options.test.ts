import { MemoryLeaseStore } from '@leasehold/core'
import {
  AllOf,
  createLockManager,
  LeaderElection,
  LeaseManager,
  listSchedules,
  Once,
  PartitionGroup,
  ReadWriteLease,
  readPartitionGroup,
  Schedule,
  ScheduleControl,
  Semaphore,
  SingleFlight,
  TickClaims,
} from '@leasehold/recipes'
import { TestLease } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

const store = new MemoryLeaseStore()

/** A row: the function or class, the mistyped option, the option that is meant, and the name in the error if it is another. */
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
    ['PartitionGroup', 'stopTimout', 'stopTimeout', (o: object) => new PartitionGroup(store, o as never)],
    ['Once', 'nam', 'name', (o: object) => new Once(store, o)],
    [
      'Schedule',
      'misst',
      'missed',
      (o: object) => new Schedule(store, { name: 'job', every: 1, work: () => {}, ...o }),
    ],
    ['ScheduleControl', 'ownr', 'owner', (o: object) => new ScheduleControl(store, 'job', o)],
    ['Semaphore', 'permit', 'permits', (o: object) => new Semaphore(store, { name: 'job', permits: 2, ...o })],
    [
      'ReadWriteLease',
      'reader',
      'readers',
      (o: object) => new ReadWriteLease(store, { name: 'job', readers: 2, ...o }),
    ],
    ['SingleFlight', 'cachSize', 'cacheSize', (o: object) => new SingleFlight(store, o)],
    ['TickClaims', 'atMostFo', 'atMostFor', (o: object) => new TickClaims(store, o)],
    ['AllOf', 'clok', 'clock', (o: object) => new AllOf([new TestLease()], o)],
    ['AllOf', 'loger', 'logger', (o: object) => new AllOf([new TestLease()], o)],
    ['createLockManager', 'reader', 'readers', (o: object) => createLockManager(store, o)],
    ['LeaseManager', 'concurency', 'concurrency', (o: object) => new LeaseManager(store, o)],
  ] as [string, string, string, (options: object) => unknown][])('%s: %s, meant is %s', (taker, option, meant, use) => {
    expect(() => use({ [option]: 1 })).toThrow(
      expect.objectContaining({
        name: 'LeaseConfigurationError',
        message: `${taker} has no option '${option}': did you mean '${meant}'?`,
      }),
    )
  })

  it.each([
    ['pause', 'untli', 'until', (o: object) => new ScheduleControl(store, 'job').pause({ reason: 'x', ...o })],
    ['runNow', 'bye', 'by', (o: object) => new ScheduleControl(store, 'job').runNow(o)],
    ['listSchedules', 'timout', 'timeout', (o: object) => listSchedules(store, '', o)],
    ['readPartitionGroup', 'timout', 'timeout', (o: object) => readPartitionGroup(store, 'log', o)],
  ] as [string, string, string, (options: object) => Promise<unknown>][])(
    '%s: %s, meant is %s',
    async (taker, option, meant, use) => {
      await expect(use({ [option]: 1 })).rejects.toMatchObject({
        name: 'LeaseConfigurationError',
        message: `${taker} has no option '${option}': did you mean '${meant}'?`,
      })
    },
  )
})
