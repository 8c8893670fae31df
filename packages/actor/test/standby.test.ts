import { createLease, type LeaseRecord, MemoryLeaseStore } from '@leasehold/core'
import { describe, expect, it, vi } from 'vitest'
import { setUp, setUpActive } from './support/guarded-recorder.js'
import { type Message, message, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

/** A lease whose holder the test names. */
class HeldLease extends ScriptedLease {
  reads = 0
  onHolder: () => Promise<LeaseRecord | undefined> = async () => undefined

  holder(): Promise<LeaseRecord | undefined> {
    this.reads += 1
    return this.onHolder()
  }
}

const record: LeaseRecord = {
  name: 'orders',
  owner: 'other',
  grantId: 'g',
  fencingToken: 3n,
  ttl: 60_000,
  state: 'leased',
  metadata: { address: 'http://other' },
}

function setUpForwarding(options: { wait?: number } = {}) {
  const lease = new HeldLease()
  lease.onHolder = async () => record
  const forward = vi.fn((_event: Message, _standby: { holder: LeaseRecord | undefined }): void => {})
  return { ...setUp({ ...options, lease, whileAcquiring: forward }), lease, forward }
}

describe("whileAcquiring: 'drop'", () => {
  it('before the first answer messages are stashed: a granted actor loses none', async () => {
    const { lease, recorder, actor, onDropped } = setUp({ whileAcquiring: 'drop' })
    actor.send(message(1))
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1])
    expect(onDropped).not.toHaveBeenCalled()
  })

  it('after a refusal the stash and all new messages are dropped, until the grant', async () => {
    const { lease, clock, recorder, actor, onDropped } = setUp({ whileAcquiring: 'drop' })
    actor.send(message(1))
    lease.deny()
    await settle()
    actor.send(message(2))
    expect(onDropped.mock.calls).toEqual([1, 2].map((id) => [message(id), 'standby']))
    expect(actor.getSnapshot().context.stashed).toBe(0)
    clock.increment(1_000)
    actor.send(message(3))
    lease.grant()
    await settle()
    actor.send(message(4))
    expect(recorder.handled).toEqual([4])
    expect(onDropped).toHaveBeenCalledTimes(3)
  })

  it('a failed attempt is an answer as well', async () => {
    const { lease, actor, onDropped } = setUp({ whileAcquiring: 'drop' })
    lease.fail(new Error('the store is away'))
    await settle()
    actor.send(message(1))
    expect(onDropped.mock.calls).toEqual([[message(1), 'standby']])
  })

  it('after a loss with reacquire, messages are stashed until the next answer', async () => {
    const { lease, recorder, actor, onDropped } = await setUpActive({
      whileAcquiring: 'drop',
      onLeaseLost: 'reacquire',
    })
    lease.lose()
    actor.send(message(1))
    expect(actor.getSnapshot().context.stashed).toBe(1)
    lease.deny()
    await settle()
    expect(onDropped.mock.calls).toEqual([[message(1), 'standby']])
    expect(recorder.handled).toEqual([])
  })

  it('with wait: the first attempt asks without waiting, the next one waits', async () => {
    const { lease, actor, onDropped } = setUp({ whileAcquiring: 'drop', wait: Number.POSITIVE_INFINITY })
    expect(lease.asked.wait).toBe(0)
    actor.send(message(1))
    lease.deny()
    await settle()
    expect(lease.asked.wait).toBe(Number.POSITIVE_INFINITY)
    expect(onDropped.mock.calls).toEqual([[message(1), 'standby']])
  })

  it('with wait: attempts that fail are repeated after retryInterval, not at once', async () => {
    const { lease } = setUp({ whileAcquiring: 'drop', wait: 10_000 })
    for (let attempt = 0; attempt < 2; attempt += 1) {
      lease.fail(new Error('the store is away'))
      await settle()
    }
    expect(lease.isAsked).toBe(false)
    expect(lease.acquires).toBe(2)
  })
})

describe('whileAcquiring as a function', () => {
  it('is called with the stashed and all new messages, in order, and with the holder', async () => {
    const { lease, actor, forward } = setUpForwarding()
    actor.send(message(1))
    lease.deny()
    await settle()
    actor.send(message(2))
    expect(forward.mock.calls).toEqual([1, 2].map((id) => [message(id), { holder: record }]))
    expect(lease.reads).toBe(1)
  })

  it('sees a new holder after the next refusal', async () => {
    const { lease, clock, actor, forward } = setUpForwarding()
    lease.deny()
    await settle()
    const next = { ...record, metadata: { address: 'http://next' } }
    lease.onHolder = async () => next
    clock.increment(1_000)
    lease.deny()
    await settle()
    actor.send(message(1))
    expect(forward.mock.calls).toEqual([[message(1), { holder: next }]])
  })

  it('with wait: the holder is read every retryInterval', async () => {
    const { lease, clock, actor, forward } = setUpForwarding({ wait: Number.POSITIVE_INFINITY })
    lease.deny()
    await settle()
    const next = { ...record, owner: 'next' }
    lease.onHolder = async () => next
    clock.increment(1_000)
    await settle()
    actor.send(message(1))
    expect(forward.mock.calls).toEqual([[message(1), { holder: next }]])
    expect(lease.acquires).toBe(2)
  })

  it('a holder that cannot be read: the last one known, or undefined', async () => {
    const { lease, clock, actor, forward } = setUpForwarding()
    lease.onHolder = () => Promise.reject(new Error('the store is away'))
    lease.deny()
    await settle()
    actor.send(message(1))
    lease.onHolder = async () => record
    clock.increment(1_000)
    lease.deny()
    await settle()
    lease.onHolder = () => Promise.reject(new Error('the store is away'))
    clock.increment(1_000)
    lease.deny()
    await settle()
    actor.send(message(2))
    expect(forward.mock.calls.map(([, { holder }]) => holder)).toEqual([undefined, record])
  })

  it('a lease without the method holder: undefined', async () => {
    const forward = vi.fn()
    const { lease, actor } = setUp({ whileAcquiring: forward })
    lease.deny()
    await settle()
    actor.send(message(1))
    expect(forward.mock.calls).toEqual([[message(1), { holder: undefined }]])
  })

  it('is not called after the grant, even if the holder is read late', async () => {
    const { lease, clock, recorder, actor, forward } = setUpForwarding()
    let answer: (holder: LeaseRecord | undefined) => void = () => {}
    lease.onHolder = () =>
      new Promise((resolve) => {
        answer = resolve
      })
    actor.send(message(1))
    lease.deny()
    await settle()
    clock.increment(1_000)
    lease.grant()
    await settle()
    answer(record)
    await settle()
    actor.send(message(2))
    expect(forward).not.toHaveBeenCalled()
    expect(recorder.handled).toEqual([1, 2])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('mine')
      },
    ],
    ['rejects', () => Promise.reject(new Error('mine'))],
  ])('that %s: the error is logged, the message is dropped, and the actor continues', async (_, forward) => {
    const { lease, actor, onDropped, logger } = setUp({ whileAcquiring: forward })
    lease.deny()
    await settle()
    actor.send(message(1))
    await settle()
    expect(logger.mock.calls).toEqual([["whileAcquiring failed for message 'message'", new Error('mine')]])
    expect(onDropped.mock.calls).toEqual([[message(1), 'standby']])
    expect(actor.getSnapshot().status).toBe('active')
  })
})

it('the metadata option is in the record that other actors see as the holder', async () => {
  const store = new MemoryLeaseStore()
  const first = setUp({ lease: createLease(store, 'orders'), metadata: { address: 'http://first' } })
  await settle()
  expect(first.actor.getSnapshot().value).toBe('active')
  const forward = vi.fn()
  const second = setUp({ lease: createLease(store, 'orders'), whileAcquiring: forward })
  second.actor.send(message(1))
  await vi.waitFor(() => expect(forward).toHaveBeenCalledTimes(1))
  expect(forward.mock.calls[0]?.[1].holder.metadata).toEqual({ address: 'http://first' })
  second.actor.stop()
  first.actor.stop()
})
