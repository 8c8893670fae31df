import { createLease, LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { AllOf, LeaseManager, Once, ReadWriteLease, Semaphore, SingleFlight } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'

/** Calls of each recipe that get the work, or the worker, as an argument. */
const calls: Readonly<Record<string, (store: MemoryLeaseStore, work: never) => Promise<unknown>>> = {
  'Once.run': (store, work) => new Once(store).run('job', work),
  'Semaphore.run': (store, work) => new Semaphore(store, { name: 'job', permits: 2 }).run(work),
  'ReadWriteLease.shared.run': (store, work) => new ReadWriteLease(store, { name: 'job', readers: 2 }).shared.run(work),
  'ReadWriteLease.exclusive.run': (store, work) =>
    new ReadWriteLease(store, { name: 'job', readers: 2 }).exclusive.run(work),
  'SingleFlight.get': (store, work) => new SingleFlight(store).get('job', work, { freshFor: 1 }),
  'AllOf.run': (store, work) => new AllOf([createLease(store, 'a'), createLease(store, 'b')]).run(work),
  'LeaseManager.processEach': (store, work) => new LeaseManager(store).processEach(['job'], work),
}

describe.each(Object.entries(calls))('%s', (_, call) => {
  it.each([
    ['nothing', undefined],
    ['a promise', Promise.resolve()],
  ])('rejects with a LeaseConfigurationError for %s, before it asks the store', async (_, work) => {
    const asked: string[] = []
    const store = new MemoryLeaseStore()
    const observed = new Proxy(store, {
      get: (target, property) => {
        const value = Reflect.get(target, property)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          asked.push(String(property))
          return Reflect.apply(value, target, args)
        }
      },
    })
    const error = await call(observed, work as never).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(LeaseConfigurationError)
    expect(error).toMatchObject({ message: expect.stringMatching(/must be a function, such as async/) })
    expect(asked).toEqual([])
  })
})
