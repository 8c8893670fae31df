import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { reportOnce } from '../src/once.js'

describe('the report of a day', () => {
  it('is written once by three instances, whether they start together or one after the other', async () => {
    const store = new MemoryLeaseStore()
    const written: string[] = []
    const instance = (day: string) =>
      reportOnce(store, day, async () => {
        written.push(day)
      })
    const together = await Promise.all([instance('1'), instance('1'), instance('1')])
    expect(together.sort()).toEqual(['done by another instance', 'done by another instance', 'written'])
    for (const day of ['1', '1', '2', '2', '2']) await instance(day)
    expect(written).toEqual(['1', '2'])
  })

  it('is written by the next instance if the first one fails', async () => {
    const store = new MemoryLeaseStore()
    const failing = reportOnce(store, '1', () => Promise.reject(new Error('no paper')))
    await expect(failing).rejects.toThrow('no paper')
    expect(await reportOnce(store, '1', async () => {})).toBe('written')
  })

  it('is not written again after an instance died before it looked', async () => {
    const store = new MemoryLeaseStore()
    await reportOnce(store, '1', async () => {})
    await createLease(store, 'nightly-report').run(async () => {})
    expect(await reportOnce(store, '1', async () => {})).toBe('done by another instance')
  })
})
