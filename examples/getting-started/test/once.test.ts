import { MemoryLeaseStore } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { reportOnce } from '../src/once.js'

describe('the report of a day', () => {
  it('is written once by three instances, whether they start together or one after the other', async () => {
    const store = new MemoryLeaseStore()
    const written: string[] = []
    const instance = (day: string) =>
      reportOnce(store, day, async () => {
        written.push(day)
        return `report-${day}-${written.length}.pdf`
      })
    const together = await Promise.all([instance('1'), instance('1'), instance('1')])
    expect(together).toEqual(['report-1-1.pdf', 'report-1-1.pdf', 'report-1-1.pdf'])
    for (const day of ['1', '1', '2', '2', '2']) await instance(day)
    expect(written).toEqual(['1', '2'])
  })

  it('is written by the next instance if the first one fails', async () => {
    const store = new MemoryLeaseStore()
    const failing = reportOnce(store, '1', () => Promise.reject(new Error('no paper')))
    await expect(failing).rejects.toThrow('no paper')
    expect(await reportOnce(store, '1', async () => 'report.pdf')).toBe('report.pdf')
  })
})
