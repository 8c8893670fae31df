import { LeaseUnavailableError } from '@leasehold/core'
import { describe, expect, it, vi } from 'vitest'
import { createActor, fromCallback, SimulatedClock } from 'xstate'
import { leaseGuarded, StashOverflowError } from '../src/index.js'
import { setUp } from './support/guarded-recorder.js'
import { type Message, message, Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

describe('acquiringLease', () => {
  it('is the initial state: the actor acquires the lease, and no worker runs', () => {
    const { lease, recorder, actor } = setUp()
    expect(actor.getSnapshot().value).toBe('acquiringLease')
    expect(actor.getSnapshot().matches('acquiringLease')).toBe(true)
    expect(actor.getSnapshot().children.worker).toBeUndefined()
    expect(lease.acquires).toBe(1)
    expect(recorder.started).toBe(0)
  })

  it('does not acquire before the actor is started', () => {
    const lease = new ScriptedLease()
    createActor(leaseGuarded(new Recorder().worker, { lease, retryInterval: 1_000 }))
    expect(lease.acquires).toBe(0)
  })

  it('stashes messages and forwards them in order after the grant, before later messages', async () => {
    const { lease, recorder, actor } = setUp()
    for (let id = 1; id <= 20; id += 1) actor.send(message(id))
    expect(recorder.handled).toEqual([])
    expect(actor.getSnapshot().context.stashed).toBe(20)
    lease.grant()
    await settle()
    expect(actor.getSnapshot().value).toBe('active')
    expect(actor.getSnapshot().context.stashed).toBe(0)
    actor.send(message(21))
    expect(recorder.handled).toEqual(Array.from({ length: 21 }, (_, index) => index + 1))
  })

  it('accepts messages that were sent before the start', async () => {
    const lease = new ScriptedLease()
    const recorder = new Recorder()
    const actor = createActor(leaseGuarded(recorder.worker, { lease, retryInterval: 1_000 }))
    actor.send(message(1))
    actor.start()
    actor.send(message(2))
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1, 2])
    actor.stop()
  })

  it('has immutable snapshots', () => {
    const { actor } = setUp()
    const before = actor.getSnapshot()
    actor.send(message(1))
    expect(before.context.stashed).toBe(0)
    expect(actor.getSnapshot().context.stashed).toBe(1)
  })
})

describe('a refused or failed attempt', () => {
  it('refused: is repeated after 80 to 100 % of retryInterval', async () => {
    const { lease, clock, actor } = setUp()
    lease.deny()
    await settle()
    expect(actor.getSnapshot().context).toMatchObject({ attempts: 1, lastError: undefined })
    clock.increment(799)
    expect(lease.acquires).toBe(1)
    clock.increment(201)
    expect(lease.acquires).toBe(2)
  })

  it('is repeated after the interval of the lease if the option is not given', async () => {
    const lease = new ScriptedLease()
    const clock = new SimulatedClock()
    const actor = createActor(leaseGuarded(new Recorder().worker, { lease }), { clock }).start()
    lease.deny()
    await settle()
    clock.increment(3_999)
    expect(lease.acquires).toBe(1)
    clock.increment(1_001)
    expect(lease.acquires).toBe(2)
    actor.stop()
  })

  it('failed: is repeated, and the context contains the error', async () => {
    const { lease, clock, actor } = setUp()
    const error = new LeaseUnavailableError('the store is away')
    lease.fail(error)
    await settle()
    expect(actor.getSnapshot().context).toMatchObject({ attempts: 1, lastError: error })
    clock.increment(1_000)
    lease.grant()
    await settle()
    expect(actor.getSnapshot().context).toMatchObject({ attempts: 0, lastError: undefined })
    expect(actor.getSnapshot().value).toBe('active')
  })

  it('failed synchronously: is repeated in the same way', () => {
    const lease = new ScriptedLease()
    lease.onAcquire = () => {
      throw new Error('not today')
    }
    const clock = new SimulatedClock()
    const actor = createActor(leaseGuarded(new Recorder().worker, { lease, retryInterval: 1_000 }), { clock }).start()
    expect(actor.getSnapshot().context.attempts).toBe(1)
    clock.increment(1_000)
    expect(lease.acquires).toBe(2)
    actor.stop()
  })

  it('is repeated until granted, one attempt at a time', async () => {
    const { lease, clock, actor, recorder } = setUp()
    actor.send(message(1))
    for (let attempt = 1; attempt <= 50; attempt += 1) {
      expect(lease.acquires).toBe(attempt)
      if (attempt % 2 === 0) lease.deny()
      else lease.fail(new Error('unknown'))
      await settle()
      clock.increment(1_000)
    }
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1])
  })

  it('is repeated after a random delay', async () => {
    const { lease, clock } = setUp({ random: () => 0.999 })
    lease.deny()
    await settle()
    clock.increment(810)
    expect(lease.acquires).toBe(2)
  })

  it("waits on the clock of the actor system, not in XState's scheduler", async () => {
    const { lease, actor } = setUp()
    lease.deny()
    await settle()
    expect(actor.system.getSnapshot()._scheduledEvents).toEqual({})
  })
})

describe('a full stash', () => {
  it('drop-newest: keeps the oldest messages', async () => {
    const { lease, recorder, actor, onDropped } = setUp({ stash: { capacity: 3, overflow: 'drop-newest' } })
    for (let id = 1; id <= 5; id += 1) actor.send(message(id))
    expect(onDropped.mock.calls).toEqual([4, 5].map((id) => [message(id), 'overflow']))
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1, 2, 3])
  })

  it('drop-oldest: keeps the newest messages', async () => {
    const { lease, recorder, actor, onDropped } = setUp({ stash: { capacity: 3, overflow: 'drop-oldest' } })
    for (let id = 1; id <= 5; id += 1) actor.send(message(id))
    expect(onDropped.mock.calls).toEqual([1, 2].map((id) => [message(id), 'overflow']))
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([3, 4, 5])
  })

  it('fail, the default: ends the actor, drops the stashed messages and aborts the attempt', () => {
    const { lease, actor, onDropped, onError } = setUp({ stash: { capacity: 2 } })
    const { signal } = lease.asked
    for (let id = 1; id <= 3; id += 1) actor.send(message(id))
    expect(onError).toHaveBeenCalledWith(expect.any(StashOverflowError))
    expect(actor.getSnapshot().error).toMatchObject({ capacity: 2, name: 'StashOverflowError' })
    expect(onDropped.mock.calls).toEqual([
      [message(3), 'overflow'],
      [message(1), 'stopped'],
      [message(2), 'stopped'],
    ])
    expect(signal?.aborted).toBe(true)
  })

  it('has room again after its messages were forwarded', async () => {
    const { lease, recorder, actor, onDropped } = setUp({
      stash: { capacity: 2, overflow: 'drop-newest' },
      onLeaseLost: 'reacquire',
    })
    for (let round = 0; round < 3; round += 1) {
      actor.send(message(2 * round + 1))
      actor.send(message(2 * round + 2))
      lease.grant()
      await settle()
      lease.lose()
    }
    expect(recorder.handled).toEqual([1, 2, 3, 4, 5, 6])
    expect(onDropped).not.toHaveBeenCalled()
  })

  it('has room for one new message per forwarded message while it is being emptied', async () => {
    const { lease, recorder, actor } = setUp({ stash: { capacity: 3 } })
    recorder.onHandle = (id) => {
      if (id === 1) for (const later of [4, 5, 6]) actor.send(message(later))
    }
    for (const id of [1, 2, 3]) actor.send(message(id))
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1, 2, 3, 4, 5, 6])
    expect(actor.getSnapshot().status).toBe('active')
  })

  it.each(['fail', 'drop-newest', 'drop-oldest'] as const)(
    '%s: forwards a stashed message before it adds a message that arrives before the first was forwarded',
    async (overflow) => {
      const lease = new ScriptedLease()
      const handled: number[] = []
      const onDropped = vi.fn()
      const worker = fromCallback<Message>(({ receive }) => {
        receive(({ id }) => handled.push(id))
        // The lease is held, and all three messages are still stashed.
        actor.send(message(4))
        actor.send(message(5))
      })
      const logic = leaseGuarded(worker, { lease, stash: { capacity: 3, overflow }, onDropped })
      const actor = createActor(logic, { clock: new SimulatedClock() }).start()
      for (const id of [1, 2, 3]) actor.send(message(id))
      lease.grant()
      await settle()
      expect(handled).toEqual([1, 2, 3, 4, 5])
      expect(onDropped).not.toHaveBeenCalled()
      expect(actor.getSnapshot().status).toBe('active')
      actor.stop()
    },
  )

  it('does not limit messages while active', async () => {
    const { lease, recorder, actor } = setUp({ stash: { capacity: 1 } })
    lease.grant()
    await settle()
    for (let id = 1; id <= 100; id += 1) actor.send(message(id))
    expect(recorder.handled).toHaveLength(100)
  })

  it('a throwing onDropped is logged, and the actor continues', () => {
    const lease = new ScriptedLease()
    const logger = vi.fn()
    const error = new Error('mine')
    const logic = leaseGuarded(new Recorder().worker, {
      lease,
      retryInterval: 1_000,
      stash: { capacity: 1, overflow: 'drop-newest' },
      onDropped: () => {
        throw error
      },
    })
    const actor = createActor(logic, { logger }).start()
    actor.send(message(1))
    actor.send(message(2))
    expect(logger).toHaveBeenCalledWith(expect.stringContaining("onDropped failed for message 'message'"), error)
    expect(actor.getSnapshot().status).toBe('active')
    actor.stop()
  })
})
