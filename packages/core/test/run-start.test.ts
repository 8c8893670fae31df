import { getEventListeners } from 'node:events'
import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from './support/held-lease.js'

function setUpInMemory() {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  return { clock, lease: createLease(store, 'job', { owner: 'me', clock, logger: silentLogger }) }
}

describe('a run that waited for its turn', () => {
  it('leaves neither a timer nor a listener on its signal', async () => {
    const { clock, lease } = setUpInMemory()
    const { signal } = new AbortController()
    let end = (): void => {}
    const first = lease.run(() => new Promise<void>((resolve) => (end = resolve)))
    const second = lease.run(async () => {}, { wait: 3_600_000, signal })
    await clock.settle()
    expect(getEventListeners(signal, 'abort').length).toBe(1)
    end()
    await first
    await second
    // Timers of the lease itself may be set a little longer.
    await clock.advance(lease.settings.timeouts.heartbeatTimeout)
    expect([clock.pending, getEventListeners(signal, 'abort').length]).toEqual([0, 0])
  })
})

describe('a run under a grant of acquire', () => {
  it('does not start if its signal is already aborted, and leaves the lease held', async () => {
    const { lease } = setUpInMemory()
    await lease.acquire()
    const reason = new Error('not any more')
    let isBegun = false
    const run = lease.run(
      async () => {
        isBegun = true
      },
      { signal: AbortSignal.abort(reason) },
    )
    await expect(run).rejects.toBe(reason)
    expect([isBegun, lease.checkLease()]).toEqual([false, true])
  })

  it('that was released meanwhile: a later run releases its own grant', async () => {
    const { lease } = setUpInMemory()
    await lease.acquire()
    await lease.release()
    await lease.run(async () => {})
    expect(lease.state).toBe('idle')
  })
})

describe('a run that starts when the validity of an earlier grant is over', () => {
  it('works under a grant of its own, although the loss of the earlier one is reported meanwhile', async () => {
    const { clock, lease } = setUpInMemory()
    const losses: string[] = []
    await lease.acquire({ onLost: ({ reason }) => losses.push(reason) })
    const earlier = lease.fencingToken ?? 0n
    clock.block(lease.settings.timeouts.heartbeatTimeout)
    const run = lease.run(async ({ fencingToken, signal }) => {
      expect(signal.aborted).toBe(false)
      return fencingToken
    })
    await clock.settle()
    expect(losses).toEqual(['expired'])
    expect(await run).toBeGreaterThan(earlier)
  })
})
