import { breakLease, createLease, type Lease, listLeases, MemoryLeaseStore, readLease } from '@leasehold/core'
import { TestLease, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { silentLogger } from './support/held-lease.js'

describe('wrong arguments', () => {
  it.each([
    ['null', null],
    ['a number', 5],
    ['wait: NaN', { wait: Number.NaN }],
    ['wait: -1', { wait: -1 }],
    ["wait: '5s'", { wait: '5s' }],
    ['a signal that is none', { signal: {} }],
    ['an onLost that is none', { onLost: 'log' }],
    ['metadata that is not texts', { metadata: { attempt: 1 } }],
    ['metadata that is a list', { metadata: ['a'] }],
    ['a grantId that is no GUID', { grantId: 'my-grant' }],
    ['ifMatch that is no text', { ifMatch: 7 }],
    ['ifMatch, on a store without versions', { ifMatch: '7' }],
  ])('%s: acquire, run and adopt reject with a LeaseConfigurationError, held or not', async (_, options) => {
    const clock = new VirtualClock()
    const lease = createLease(new MemoryLeaseStore({ clock }), 'job', { clock, logger: silentLogger })
    const expected = { name: 'LeaseConfigurationError', leaseName: 'job' }
    for (let held = 0; held < 2; held += 1) {
      await expect(lease.acquire(options as never)).rejects.toMatchObject(expected)
      await expect(lease.run(async () => {}, options as never)).rejects.toMatchObject(expected)
      await expect(lease.adopt({} as never, options as never)).rejects.toMatchObject(expected)
      await lease.acquire()
    }
  })

  it.each([Number.NaN, -1, '5', '5s', null])('a timeout of %s is refused before any request', async (timeout) => {
    const store = new MemoryLeaseStore()
    const expected = { name: 'LeaseConfigurationError' }
    const read = vi.spyOn(store, 'read')
    const given = { timeout: timeout as number }
    await expect(readLease(store, 'job', given)).rejects.toMatchObject(expected)
    await expect(breakLease(store, 'job', given)).rejects.toMatchObject(expected)
    await expect(listLeases(store, '', given).next()).rejects.toMatchObject(expected)
    expect(read).not.toHaveBeenCalled()
  })

  it.each([Number.NaN, -1, '5', '5s', null])('a period, or a childGrace, of %s is refused', async (duration) => {
    const store = new MemoryLeaseStore()
    const expected = expect.objectContaining({ name: 'LeaseConfigurationError' })
    const lease = createLease(store, 'job', { logger: silentLogger })
    await lease.acquire()
    await expect(breakLease(store, 'job', { period: duration as number })).rejects.toEqual(expected)
    expect(lease.checkLease()).toBe(true)
    await lease.release()
    expect(() => createLease(store, 'job', { childGrace: duration as number })).toThrow(expected)
  })

  it.each<[object, string]>([
    [{}, 'LeaseNameError'],
    [{ heartbeatTimout: 5_000 }, 'LeaseConfigurationError'],
  ])('a name and a store in the wrong order, with the options %o, throw a %s', (options, name) => {
    const [first, second] = ['job', new MemoryLeaseStore()] as never[]
    expect(() => createLease(first as never, second as never, options)).toThrow(expect.objectContaining({ name }))
  })

  it.each([undefined, null, 7, 'text', {}])('adopt(%s) rejects with a LeaseConfigurationError', async (handOff) => {
    const lease = createLease(new MemoryLeaseStore(), 'job', { logger: silentLogger })
    await expect(lease.adopt(handOff as never)).rejects.toMatchObject({ name: 'LeaseConfigurationError' })
  })

  it.each<[string, () => Lease]>([
    ['a lease over a store', () => createLease(new MemoryLeaseStore(), 'job', { logger: silentLogger })],
    ['a lease of its own kind', () => new TestLease({ name: 'job' })],
  ])('run of %s rejects without a function, and acquires nothing', async (_, create) => {
    for (const work of [undefined, null, Promise.resolve(), 'work']) {
      const lease = create()
      let acquired = 0
      const { acquire } = lease
      const observed = (): Promise<boolean> => {
        acquired += 1
        return acquire.call(lease)
      }
      Object.assign(lease, { acquire: observed })
      await expect(lease.run(work as never)).rejects.toMatchObject({
        name: 'LeaseConfigurationError',
        message: expect.stringMatching(/^the work of run must be a function, such as async \(held\) => …, not /),
        leaseName: 'job',
      })
      expect([acquired, lease.checkLease()]).toEqual([0, false])
    }
  })
})
