import { MemoryLeaseStore } from '@leasehold/core'
import { allOf, LeaderElection, LeaseManager } from '@leasehold/recipes'
import { TestLease } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

const store = new MemoryLeaseStore()

/** A row: the function or class, the mistyped option, the option that is meant, and the name in the error if it is another. */
describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['LeaderElection', 'onElect', 'onElected', (o: object) => new LeaderElection(store, { name: 'job', ...o })],
    ['LeaderElection', 'heartbeatTimout', 'heartbeatTimeout', (o: object) => new LeaderElection(store, o as never)],
    ['allOf', 'clok', 'clock', (o: object) => allOf([new TestLease()], o)],
    ['AllOf', 'loger', 'logger', (o: object) => allOf([new TestLease()], o), 'allOf'],
    ['LeaseManager', 'concurency', 'concurrency', (o: object) => new LeaseManager(store, o)],
  ] as [string, string, string, (options: object) => unknown, string?][])(
    '%s: %s, meant is %s',
    (taker, option, meant, use, of = taker) => {
      expect(() => use({ [option]: 1 })).toThrow(
        expect.objectContaining({
          name: 'LeaseConfigurationError',
          message: `${of} has no option '${option}': did you mean '${meant}'?`,
        }),
      )
    },
  )
})
