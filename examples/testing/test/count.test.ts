// #region run
import { LeaseHeldError, LeaseLostError } from '@leasehold/core'
import { TestLease } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { count } from '../src/count.js'
import { Counter } from '../src/counter.js'

describe('count', () => {
  it('stops when the lease is lost', async () => {
    const [lease, counter] = [new TestLease(), new Counter()]
    const pause = async (): Promise<void> => {
      if (counter.value === 3) await lease.lose('expired')
    }
    await expect(count(lease, counter, pause)).rejects.toThrow(LeaseLostError)
    expect(counter.value).toBe(3)
  })

  it('stops when the lease is released, as at a shutdown', async () => {
    const [lease, counter] = [new TestLease(), new Counter()]
    const counting = count(lease, counter, () => lease.release().then(() => {}))
    await expect(counting).rejects.toMatchObject({ code: 'lost', reason: 'released' })
    expect(counter.value).toBe(1)
  })

  it('does nothing while another owner holds the lease', async () => {
    const [lease, counter] = [new TestLease({ answer: false }), new Counter()]
    await expect(count(lease, counter, async () => {})).rejects.toThrow(LeaseHeldError)
    expect(counter.value).toBe(0)
  })
})
// #endregion run
