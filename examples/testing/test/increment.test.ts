// #region unit
import { TestLease } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { Counter } from '../src/counter.js'
import { increment } from '../src/increment.js'

describe('increment', () => {
  it('writes under the token of its lease', async () => {
    const [lease, counter] = [new TestLease(), new Counter()]
    await lease.acquire()
    expect(await increment(lease, counter, async () => {})).toBe(true)
    expect(counter.value).toBe(1)
  })

  it('writes nothing once the lease was lost in the middle of its work', async () => {
    const [lease, counter] = [new TestLease(), new Counter()]
    const reasons: string[] = []
    await lease.acquire({ onLost: ({ reason }) => reasons.push(reason) })
    expect(await increment(lease, counter, () => lease.lose('expired'))).toBe(false)
    expect(counter.value).toBe(0)
    expect(reasons).toEqual(['expired'])
  })

  it('writes nothing after a blocked event loop, before the loss is notified', async () => {
    const [lease, counter] = [new TestLease(), new Counter()]
    await lease.acquire()
    expect(await increment(lease, counter, async () => lease.stall())).toBe(false)
    expect(counter.value).toBe(0)
  })

  it('is rejected by the resource after a later holder has written', async () => {
    const [lease, counter] = [new TestLease(), new Counter()]
    await lease.acquire()
    const successor = 1_000n
    const written = await increment(lease, counter, async () => void counter.read(successor))
    expect(written).toBe(false)
    expect(counter.value).toBe(0)
  })

  it('does nothing while it holds no lease', async () => {
    const [lease, counter] = [new TestLease({ answer: false }), new Counter()]
    await lease.acquire()
    expect(await increment(lease, counter, async () => {})).toBe(false)
  })
})
// #endregion unit
