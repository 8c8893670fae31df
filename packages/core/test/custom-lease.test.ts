import { setImmediate } from 'node:timers/promises'
import {
  createLease,
  type Lease,
  LeaseConflictError,
  LeaseHeldError,
  LeaseLostError,
  LeaseProvider,
  MemoryLeaseStore,
} from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { ThreeMethods } from './support/three-methods.js'

const never = (): Promise<never> => new Promise(() => {})

describe('run of a lease with the three methods of the contract', () => {
  it('acquires, does the work and releases', async () => {
    const lease = new ThreeMethods()
    const result = await lease.run(async ({ signal, fencingToken }) => {
      expect(lease.checkLease()).toBe(true)
      expect([signal.aborted, fencingToken]).toEqual([false, undefined])
      return 'done'
    })
    expect(result).toBe('done')
    expect(lease.calls).toEqual(['acquire', 'release'])
  })

  it('rejects with a LeaseHeldError when acquire was refused, and releases nothing', async () => {
    const lease = new ThreeMethods()
    lease.answer = () => false
    const error = await lease.run(never).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LeaseHeldError)
    expect(error).toMatchObject({ leaseName: 'job', owner: 'me', holder: undefined })
    expect(lease.calls).toEqual(['acquire'])
  })

  it('rejects with the error of acquire, and can run again', async () => {
    const lease = new ThreeMethods()
    lease.answer = () => Promise.reject(new RangeError('unknown'))
    await expect(lease.run(never)).rejects.toThrow('unknown')
    lease.answer = () => true
    expect(await lease.run(async () => 'done')).toBe('done')
  })

  it('rejects at once when the lease is lost, though the work ignores its signal, and calls onLost once', async () => {
    const lease = new ThreeMethods()
    const reasons: string[] = []
    let signal: AbortSignal | undefined
    const run = lease.run(
      (held) => {
        signal = held.signal
        return never()
      },
      { onLost: ({ reason }) => reasons.push(reason) },
    )
    await setImmediate()
    lease.lose({ reason: 'taken', owner: 'other' })
    const error = await run.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LeaseLostError)
    expect(error).toMatchObject({ reason: 'taken', message: "lease 'job' was lost: taken (held by 'other' now)" })
    expect(signal?.reason).toBe(error)
    expect(reasons).toEqual(['taken'])
    expect(lease.calls).toEqual(['acquire'])
  })

  it('says to a lease that reports its loss when the work has ended', async () => {
    const lease = new ThreeMethods()
    let end = (): void => {}
    const work = new Promise<void>((resolve) => {
      end = resolve
    })
    const run = lease.run(() => work).catch((reason: unknown) => reason)
    await setImmediate()
    const [ended] = lease.lose({ reason: 'taken' })
    expect(await run).toBeInstanceOf(LeaseLostError)
    const first = await Promise.race([Promise.resolve(ended).then(() => 'ended'), setImmediate('goes on')])
    expect(first).toBe('goes on')
    end()
    expect(await ended).toBeUndefined()
  })

  it('releases nothing if the lease is lost between the grant and the work', async () => {
    const lease = new ThreeMethods()
    const { acquire } = lease
    let granted = Promise.resolve()
    lease.acquire = (options) => {
      const acquired = acquire.call(lease, options)
      // After the answer, and before the run goes on.
      granted = acquired.then(() => void lease.lose({ reason: 'taken' }))
      return acquired
    }
    const run = lease.run(never).catch((reason: unknown) => reason)
    await granted
    expect(await run).toBeInstanceOf(LeaseLostError)
    expect(lease.calls).toEqual(['acquire'])
  })

  it('does not begin its work when the lease is lost right after the grant', async () => {
    const lease = new ThreeMethods()
    const run = lease.run(never)
    // Before the run sees the answer.
    queueMicrotask(() => lease.lose({ reason: 'broken' }))
    await expect(run).rejects.toMatchObject({ code: 'lost', reason: 'broken' })
  })

  it('does not release the grant of an acquire before it', async () => {
    const lease = new ThreeMethods()
    await lease.acquire()
    await lease.run(async () => {})
    await lease.run(async () => {})
    expect(lease.checkLease()).toBe(true)
    expect(lease.calls).not.toContain('release')
  })

  it('rejects when the lease is released during its work, and leaves a later grant alone', async () => {
    const lease = new ThreeMethods()
    const run = lease.run(never)
    await setImmediate()
    const released = lease.release()
    await expect(run).rejects.toMatchObject({ code: 'lost', reason: 'released' })
    await released
    await lease.acquire()
    await setImmediate()
    expect(lease.checkLease()).toBe(true)
  })

  it('does not begin its work when the lease was released during the attempt', async () => {
    const lease = new ThreeMethods()
    let grant = (_: boolean): void => {}
    lease.answer = () => new Promise((resolve) => (grant = resolve))
    lease.beforeRelease = () => setImmediate()
    let begun = false
    const run = lease.run(async () => {
      begun = true
    })
    const released = lease.release()
    grant(true)
    await expect(run).rejects.toMatchObject({ code: 'lost', reason: 'released' })
    await released
    expect([begun, lease.checkLease()]).toEqual([false, false])
  })

  it('ends with its grant if the lease is frozen, so that its releases cannot be observed', async () => {
    const lease = Object.freeze(new ThreeMethods())
    expect(await lease.run(async () => 'done')).toBe('done')
    expect(lease.calls).toEqual(['acquire', 'release'])
    const run = lease.run(never)
    await setImmediate()
    lease.lose({ reason: 'taken' })
    await expect(run).rejects.toMatchObject({ code: 'lost', reason: 'taken' })
  })

  it('is over, as are the children of the lease, before a release frees it', async () => {
    const lease = new ThreeMethods()
    const child = createLease(new MemoryLeaseStore(), 'child', { parent: lease })
    let seen: unknown
    const run = lease.run(async ({ signal }) => {
      await child.acquire()
      lease.beforeRelease = () => {
        seen = [signal.aborted, child.state]
      }
      return await never()
    })
    run.catch(() => {})
    await setImmediate()
    expect(child.checkLease()).toBe(true)
    expect(await lease.release()).toBe(true)
    await expect(run).rejects.toMatchObject({ code: 'lost', reason: 'released' })
    expect(seen).toEqual([true, 'idle'])
  })

  it('takes a release that acquire itself calls for no release of the run', async () => {
    const lease = new ThreeMethods()
    lease.answer = () => lease.release()
    expect(await lease.run(async () => 'done')).toBe('done')
  })

  it('reports a failed release as a process warning, and resolves with the result of the work', async () => {
    const lease = new ThreeMethods()
    lease.beforeRelease = () => Promise.reject(new RangeError('unreachable'))
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    expect(await lease.run(async () => 'done')).toBe('done')
    expect((await warned).message).toBe("lease 'job' of 'me': an error in the background")
  })

  it('rejects a run inside its own work, and options that are not valid', async () => {
    const lease = new ThreeMethods()
    await lease.run(async () => {
      await expect(lease.run(never, { wait: Number.POSITIVE_INFINITY })).rejects.toThrow(LeaseConflictError)
    })
    await expect(lease.run(never, { wait: -1 })).rejects.toMatchObject({ code: 'configuration' })
  })

  it('is there on a lease that a provider made', async () => {
    await using provider = new LeaseProvider(
      { my: { 'lease-class': 'three' } },
      { three: async () => new ThreeMethods() },
    )
    const lease: Lease = await provider.getLease('job', 'my')
    expect(await lease.run(async ({ signal }) => signal.aborted)).toBe(false)
  })
})

describe('signal of a lease with the three methods of the contract', () => {
  it('aborts when the lease is lost, with a LeaseLostError', async () => {
    const lease = new ThreeMethods()
    await lease.acquire()
    const { signal } = lease
    expect(lease.signal).toBe(signal)
    lease.lose({ reason: 'deleted' })
    expect(signal.reason).toMatchObject({ code: 'lost', reason: 'deleted' })
    expect(lease.signal.aborted).toBe(true)
  })

  it('belongs to one grant: the loss of a later one does not abort it', async () => {
    const lease = new ThreeMethods()
    await lease.acquire()
    const first = lease.signal
    await lease.release()
    await lease.acquire()
    const second = lease.signal
    lease.lose({ reason: 'expired' })
    expect([first.aborted, second.aborted]).toEqual([false, true])
  })

  it('registers once for a grant, and calls nothing while nothing is held', async () => {
    const lease = new ThreeMethods()
    expect(lease.signal.aborted).toBe(true)
    expect(lease.calls).toEqual([])
    await lease.acquire()
    for (let look = 0; look < 10; look += 1) expect(lease.signal.aborted).toBe(false)
    expect(lease.calls).toEqual(['acquire', 'acquire'])
  })
})

it('holder() is of leases over a store only', () => {
  expect('holder' in new ThreeMethods()).toBe(false)
})
