import type { LeaseLost } from '@leasehold/core'
import { TestLease } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

describe('TestLease', () => {
  it('is granted, released and granted again, under a larger token', async () => {
    const lease = new TestLease({ name: 'job', owner: 'me' })
    expect(lease.settings).toMatchObject({ name: 'job', owner: 'me' })
    expect([lease.checkLease(), lease.fencingToken]).toEqual([false, undefined])
    expect(await lease.acquire()).toBe(true)
    expect([lease.checkLease(), lease.fencingToken]).toEqual([true, 1n])
    expect(await lease.acquire()).toBe(true)
    expect(await lease.release()).toBe(true)
    expect([lease.checkLease(), lease.fencingToken]).toEqual([false, undefined])
    await lease.acquire()
    expect(lease.fencingToken).toBe(2n)
    expect([lease.acquired, lease.released]).toEqual([3, 1])
  })

  it('is refused, fails, or stays pending, as the test says', async () => {
    const lease = new TestLease({ answer: false })
    expect(await lease.acquire()).toBe(false)
    lease.answer = new RangeError('unknown')
    await expect(lease.acquire()).rejects.toThrow(RangeError)
    lease.answer = 'later'
    const [one, two] = [lease.acquire(), lease.acquire()]
    expect(lease.isAsked).toBe(true)
    lease.grant()
    expect(await Promise.all([one, two])).toEqual([true, true])
    expect([lease.isAsked, lease.fencingToken]).toEqual([false, 1n])
    await lease.release()
    const refused = lease.acquire()
    lease.refuse()
    expect(await refused).toBe(false)
    const failed = lease.acquire()
    lease.fail(new RangeError('unknown'))
    await expect(failed).rejects.toThrow(RangeError)
  })

  it('removes a caller that gives up waiting', async () => {
    const lease = new TestLease({ answer: 'later' })
    const giving = new AbortController()
    const asked = lease.acquire({ signal: giving.signal })
    giving.abort(new Error('no longer'))
    await expect(asked).rejects.toThrow('no longer')
    lease.grant()
    expect([lease.isAsked, lease.checkLease()]).toEqual([false, false])
    await expect(lease.acquire({ signal: giving.signal })).rejects.toThrow('no longer')
  })

  it('calls each onLost once, after acquire has resolved, and not after a release', async () => {
    const lease = new TestLease({ answer: 'later' })
    const events: (LeaseLost | string)[] = []
    const onLost = (lost: LeaseLost) => events.push(lost)
    const first = lease.acquire({ onLost }).then(() => events.push('granted'))
    lease.grant()
    await Promise.all([lease.acquire({ onLost }), lease.lose('taken', { owner: 'other' }), first])
    const lost = { reason: 'taken', owner: 'other' }
    expect(events).toEqual(['granted', lost, lost])
    await lease.lose()
    lease.answer = true
    await lease.acquire({ onLost })
    await lease.release()
    await lease.lose()
    expect(events).toHaveLength(3)
  })

  it('calls all callbacks, even if one throws', async () => {
    const lease = new TestLease()
    const reasons: string[] = []
    const failing = (): never => {
      throw new RangeError('mine')
    }
    await lease.acquire({ onLost: failing })
    await lease.acquire({ onLost: ({ reason }) => reasons.push(reason) })
    await expect(lease.lose('broken')).rejects.toThrow(RangeError)
    expect(reasons).toEqual(['broken'])
  })

  it('can end before the notification', async () => {
    const lease = new TestLease()
    await lease.acquire()
    lease.stall()
    expect([lease.checkLease(), lease.fencingToken]).toEqual([false, 1n])
  })

  it('does work under run, and ends it at a loss or a release', async () => {
    const lease = new TestLease()
    const never = (): Promise<never> => new Promise(() => {})
    expect(await lease.run(async ({ fencingToken }) => fencingToken)).toBe(1n)
    expect([lease.checkLease(), lease.acquired, lease.released]).toEqual([false, 1, 1])
    const losses: LeaseLost[] = []
    const lost = lease.run(never, { onLost: (loss) => losses.push(loss) })
    const lostAsExpected = expect(lost).rejects.toMatchObject({ code: 'lost', reason: 'taken' })
    await lease.lose('taken')
    await lostAsExpected
    expect(losses).toEqual([{ reason: 'taken' }])
    const released = expect(lease.run(never)).rejects.toMatchObject({ code: 'lost', reason: 'released' })
    await new Promise((resolve) => setImmediate(resolve))
    await lease.release()
    await released
    lease.answer = false
    await expect(lease.run(never)).rejects.toMatchObject({ code: 'held' })
  })

  it('has a signal that aborts at the loss of its grant, and is aborted while nothing is held', async () => {
    const lease = new TestLease()
    expect(lease.signal.aborted).toBe(true)
    await lease.acquire()
    const { signal } = lease
    await lease.release()
    await lease.acquire()
    const next = lease.signal
    await lease.lose('broken')
    expect([signal.aborted, next.reason]).toMatchObject([false, { code: 'lost', reason: 'broken' }])
    expect([lease.signal.aborted, lease.acquired]).toEqual([true, 2])
  })
})
