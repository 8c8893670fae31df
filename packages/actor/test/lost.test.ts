import { LeaseLostError } from '@leasehold/core'
import { describe, expect, it, vi } from 'vitest'
import { createActor, createMachine, fromCallback, fromTransition, toPromise } from 'xstate'
import { leaseGuarded } from '../src/index.js'
import { setUp, setUpActive } from './support/guarded-recorder.js'
import { type Message, message, microtasks, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

describe('a lost lease, policy stop', () => {
  it('stops the worker before onLost has returned', async () => {
    const { lease, recorder } = await setUpActive()
    expect(recorder.alive).toBe(1)
    lease.lose()
    expect(recorder.alive).toBe(0)
  })

  it('ends the actor with a LeaseLostError that contains the reason', async () => {
    const { lease, actor, onError } = await setUpActive()
    const cause = new Error('ECONNRESET')
    lease.lose({ reason: 'taken', owner: 'other', cause })
    const { error, status } = actor.getSnapshot()
    expect(status).toBe('error')
    expect(error).toBeInstanceOf(LeaseLostError)
    expect(error).toMatchObject({ reason: 'taken', leaseName: 'orders', owner: 'me', cause })
    expect(onError.mock.calls).toEqual([[error]])
  })

  it('does not release: the grant has already ended', async () => {
    const { lease } = await setUpActive()
    lease.lose()
    await settle()
    expect(lease.releases).toBe(0)
  })

  it('rejects toPromise', async () => {
    const { lease, actor } = await setUpActive()
    const promise = toPromise(actor)
    lease.lose()
    await expect(promise).rejects.toBeInstanceOf(LeaseLostError)
  })

  it('calls onError of the parent machine', async () => {
    const lease = new ScriptedLease()
    const guarded = leaseGuarded(
      fromCallback<Message>(() => {}),
      { lease, retryInterval: 1_000 },
    )
    const machine = createMachine({
      initial: 'working',
      states: { working: { invoke: { id: 'guard', src: guarded, onError: 'failed' } }, failed: {} },
    })
    const actor = createActor(machine).start()
    lease.grant()
    await settle()
    lease.lose()
    expect(actor.getSnapshot().value).toBe('failed')
    actor.stop()
  })
})

describe('a lease lost while the actor handles a message', () => {
  it('no queued message reaches the worker, and stashed messages are dropped as lost', async () => {
    const { lease, recorder, actor, onDropped } = await setUpActive()
    recorder.onHandle = (id) => {
      if (id !== 1) return
      for (const later of [2, 3]) actor.send(message(later))
      lease.lose()
    }
    actor.send(message(1))
    expect(recorder.handled).toEqual([1])
    expect(recorder.alive).toBe(0)
    expect(onDropped.mock.calls).toEqual([2, 3].map((id) => [message(id), 'lost']))
    expect(actor.getSnapshot().status).toBe('error')
  })

  it('queued messages cannot overflow the stash: the actor ends with the loss', async () => {
    const { lease, recorder, actor, onDropped } = await setUpActive({ stash: { capacity: 1 } })
    recorder.onHandle = () => {
      for (const later of [2, 3, 4]) actor.send(message(later))
      lease.lose()
    }
    actor.send(message(1))
    expect(actor.getSnapshot().error).toBeInstanceOf(LeaseLostError)
    expect(onDropped.mock.calls).toEqual([2, 3, 4].map((id) => [message(id), 'lost']))
  })

  it('queued messages do not reach the stopped worker, even if checkLease still returns true', async () => {
    const { lease, recorder, actor } = await setUpActive({ onLeaseLost: 'reacquire' })
    lease.checkLease = () => true
    recorder.onHandle = (id) => {
      if (id !== 1) return
      for (const later of [2, 3]) actor.send(message(later))
      lease.lose()
    }
    actor.send(message(1))
    expect(recorder.handled).toEqual([1])
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1, 2, 3])
  })

  it('while unstashing: the remaining messages are dropped', async () => {
    const { lease, recorder, actor, onDropped } = setUp()
    recorder.onHandle = (id) => {
      if (id === 2) lease.lose()
    }
    for (let id = 1; id <= 4; id += 1) actor.send(message(id))
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1, 2])
    expect(onDropped.mock.calls).toEqual([3, 4].map((id) => [message(id), 'lost']))
  })

  it('while unstashing, policy reacquire: the remaining messages are forwarded under the next grant', async () => {
    const { lease, recorder, actor } = setUp({ onLeaseLost: 'reacquire' })
    recorder.onHandle = (id) => {
      if (id === 2) lease.lose()
    }
    for (let id = 1; id <= 4; id += 1) actor.send(message(id))
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1, 2])
    actor.send(message(5))
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1, 2, 3, 4, 5])
    expect(recorder.started).toBe(2)
  })

  it('while the worker is created: it is never started', async () => {
    const lease = new ScriptedLease()
    let entered = 0
    const worker = createMachine({
      context: () => {
        lease.lose()
        return {}
      },
      entry: () => {
        entered += 1
      },
    })
    const actor = createActor(leaseGuarded(worker, { lease, retryInterval: 1_000 }))
    const onError = vi.fn()
    actor.subscribe({ error: onError })
    actor.start()
    lease.grant()
    await settle()
    expect(entered).toBe(0)
    expect(onError).toHaveBeenCalledWith(expect.any(LeaseLostError))
    expect(lease.releases).toBe(0)
  })

  it('while the worker is created, policy reacquire: the lease is acquired again for a new worker', async () => {
    const lease = new ScriptedLease()
    let made = 0
    const worker = createMachine({
      context: () => {
        made += 1
        if (made === 1) lease.lose()
        return {}
      },
    })
    const actor = createActor(leaseGuarded(worker, { lease, retryInterval: 1_000, onLeaseLost: 'reacquire' })).start()
    lease.grant()
    await settle()
    expect(lease.acquires).toBe(2)
    lease.grant()
    await settle()
    expect(actor.getSnapshot().value).toBe('active')
    expect(made).toBe(2)
    actor.stop()
    expect(lease.freed).toBe(1)
  })
})

describe('a lost lease, policy reacquire', () => {
  it('returns to acquiringLease at once, and stops the old worker before it acquires again', async () => {
    const { lease, recorder, actor } = await setUpActive({ onLeaseLost: 'reacquire' })
    let aliveWhenAsked = -1
    lease.onAcquire = () => {
      aliveWhenAsked = recorder.alive
      return new Promise(() => {})
    }
    lease.lose({ reason: 'broken' })
    expect(aliveWhenAsked).toBe(0)
    const { value, context, children, status } = actor.getSnapshot()
    expect({ value, status, worker: children.worker }).toEqual({
      value: 'acquiringLease',
      status: 'active',
      worker: undefined,
    })
    expect(context.lastError).toMatchObject({ code: 'lost', reason: 'broken' })
  })

  it('stashes a message of the clean-up of the worker, even if checkLease still returns true', async () => {
    const { lease, recorder, actor } = await setUpActive({ onLeaseLost: 'reacquire' })
    lease.checkLease = () => true
    recorder.onStop = () => {
      if (recorder.started === 1) actor.send(message(1))
    }
    lease.lose()
    expect(recorder.handled).toEqual([])
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1])
  })

  it('stashes meanwhile, and starts a new worker under the next grant', async () => {
    const { lease, recorder, actor } = await setUpActive({ onLeaseLost: 'reacquire' })
    actor.send(message(1))
    lease.lose()
    actor.send(message(2))
    expect(recorder.handled).toEqual([1])
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1, 2])
    expect(recorder).toMatchObject({ started: 2, alive: 1 })
    expect(actor.getSnapshot().context).toMatchObject({ generation: 2, lastError: undefined })
  })

  it('acquires again only after a worker on the call stack has ended', async () => {
    const { lease, recorder, actor } = await setUpActive({ onLeaseLost: 'reacquire' })
    recorder.onHandle = () => {
      lease.lose()
      expect(lease.acquires).toBe(1)
    }
    actor.send(message(1))
    expect(recorder).toMatchObject({ handled: [1], alive: 0 })
    expect(lease.acquires).toBe(2)
  })

  it('also waits for a worker that is busy with an event from other code', async () => {
    const lease = new ScriptedLease()
    const handled: string[] = []
    const worker = fromTransition((_: null, event: { type: string }) => {
      if (event.type === 'lose') lease.lose()
      handled.push(`${event.type}, asked ${lease.acquires} times`)
      return null
    }, null)
    const actor = createActor(leaseGuarded(worker, { lease, retryInterval: 1_000, onLeaseLost: 'reacquire' })).start()
    lease.grant()
    await settle()
    actor.getSnapshot().children.worker?.send({ type: 'lose' })
    expect(handled).toEqual(['lose, asked 1 times', 'xstate.stop, asked 1 times'])
    expect(lease.acquires).toBe(2)
    actor.stop()
  })

  it('a lease lost before its worker has run is acquired again only after retryInterval', async () => {
    const { lease, clock, recorder, actor } = setUp({ onLeaseLost: 'reacquire' })
    lease.grant()
    lease.lose()
    await settle()
    expect(recorder.started).toBe(0)
    expect(actor.getSnapshot().value).toBe('acquiringLease')
    expect(lease.acquires).toBe(1)
    clock.increment(1_000)
    expect(lease.acquires).toBe(2)
  })
})

describe('a loss reported before the actor has handled the grant', () => {
  for (let count = 0; count <= 3; count += 1) {
    it(`${count} microtasks after the grant: the worker does not run, and nothing is released`, async () => {
      const { lease, recorder, actor, onError } = setUp()
      lease.grant()
      await microtasks(count)
      lease.lose()
      await settle()
      expect(recorder.alive).toBe(0)
      expect(lease.releases).toBe(0)
      expect(actor.getSnapshot().status).toBe('error')
      expect(onError).toHaveBeenCalledTimes(1)
    })
  }
})

describe('a lease that is no longer valid, before onLost was called', () => {
  it('a message is stashed: neither handled nor dropped', async () => {
    const { lease, recorder, actor, onDropped } = await setUpActive()
    lease.valid = false
    actor.send(message(1))
    expect(recorder.handled).toEqual([])
    expect(actor.getSnapshot().value).toBe('active')
    expect(actor.getSnapshot().context.stashed).toBe(1)
    expect(onDropped).not.toHaveBeenCalled()
  })

  it('onLost is called: the message is dropped as lost', async () => {
    const { lease, actor, onDropped } = await setUpActive()
    lease.valid = false
    actor.send(message(1))
    lease.lose()
    expect(onDropped.mock.calls).toEqual([[message(1), 'lost']])
  })

  it('onLost is called, policy reacquire: the next worker receives the message', async () => {
    const { lease, recorder, actor } = await setUpActive({ onLeaseLost: 'reacquire' })
    lease.valid = false
    actor.send(message(1))
    lease.lose()
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1])
  })

  it('the lease is valid again: the message is forwarded with the next message, in order', async () => {
    const { lease, recorder, actor } = await setUpActive()
    lease.valid = false
    actor.send(message(1))
    actor.send(message(2))
    lease.valid = true
    actor.send(message(3))
    expect(recorder.handled).toEqual([1, 2, 3])
    expect(actor.getSnapshot().context.stashed).toBe(0)
  })

  it('the lease is valid again and no message arrives: the message is forwarded after retryInterval', async () => {
    const { lease, recorder, clock, actor } = await setUpActive()
    lease.valid = false
    actor.send(message(1))
    clock.increment(1_000)
    expect(recorder.handled).toEqual([])
    lease.valid = true
    clock.increment(1_000)
    expect(recorder.handled).toEqual([1])
    expect(actor.getSnapshot().context.stashed).toBe(0)
  })

  it('before the worker was started: it is started when the lease is valid again', async () => {
    const { lease, recorder, clock, actor } = setUp()
    actor.send(message(1))
    lease.grant()
    lease.valid = false
    await settle()
    expect(recorder.started).toBe(0)
    expect(actor.getSnapshot().value).toBe('acquiringLease')
    lease.valid = true
    clock.increment(1_000)
    expect(recorder).toMatchObject({ started: 1, handled: [1] })
    expect(lease.acquires).toBe(1)
  })

  it('before the worker was started, and the actor is stopped: the grant is released', async () => {
    const { lease, actor } = setUp()
    lease.grant()
    lease.valid = false
    await settle()
    actor.stop()
    expect(lease.freed).toBe(1)
  })

  it('while unstashing: the remaining messages stay stashed, in order', async () => {
    const { lease, recorder, clock, actor } = setUp()
    recorder.onHandle = (id) => {
      if (id === 2) lease.valid = false
    }
    for (let id = 1; id <= 4; id += 1) actor.send(message(id))
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([1, 2])
    expect(actor.getSnapshot().context.stashed).toBe(2)
    lease.valid = true
    clock.increment(1_000)
    expect(recorder.handled).toEqual([1, 2, 3, 4])
  })

  it('a checkLease that throws ends the actor and releases the lease', async () => {
    const { lease, recorder, actor, onError } = await setUpActive()
    const error = new Error('no clock')
    lease.checkLease = () => {
      throw error
    }
    actor.send(message(1))
    expect(onError).toHaveBeenCalledWith(error)
    expect(recorder).toMatchObject({ handled: [], alive: 0 })
    expect(lease.freed).toBe(1)
  })
})
