import { MemoryLeaseStore } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'
import { sendInvoices } from '../src/share-jobs.js'

describe.concurrent('jobs by three workers', { timeout: 120_000 }, () => {
  it('are each done once, and the job of a worker that is killed is done again', () => {
    expect(runExample('jobs')).toEqual({
      status: 0,
      lines: [
        'the first worker begins anna, and is killed',
        'three workers have sent 6 invoices: anna, berta, carla, doris, emma, frida',
      ],
      stderr: '',
    })
  })

  it('are done once in each run', async () => {
    const store = new MemoryLeaseStore()
    const sent: string[] = []
    const send = async (invoice: string): Promise<void> => void sent.push(invoice)
    await Promise.all([sendInvoices(store, 'may', send), sendInvoices(store, 'may', send)])
    expect(sent.length).toBe(6)
    await sendInvoices(store, 'june', send)
    expect(sent.length).toBe(12)
  })
})
