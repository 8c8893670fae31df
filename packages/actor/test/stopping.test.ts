import { describe, expect, it, vi } from 'vitest'
import {
  type AnyActor,
  type AnyActorRef,
  createActor,
  createMachine,
  fromCallback,
  fromPromise,
  fromTransition,
  SimulatedClock,
} from 'xstate'
import { leaseGuarded } from '../src/index.js'
import { setUp, setUpActive } from './support/guarded-recorder.js'
import { type Message, message, microtasks, Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

/** Sends XState's stop event, which every actor accepts although the types exclude it. */
function sendStop(actor: AnyActorRef): void {
  actor.send({ type: 'xstate.stop' })
}

describe('stop while acquiring', () => {
  it('aborts the attempt by its signal', () => {
    const { lease, actor } = setUp()
    const { signal } = lease.asked
    expect(signal?.aborted).toBe(false)
    actor.stop()
    expect(signal?.aborted).toBe(true)
  })

  it('releases a grant that arrives later, once, and no worker runs', async () => {
    const { lease, recorder, actor } = setUp()
    actor.stop()
    expect(lease.releases).toBe(0)
    lease.grant()
    await settle()
    expect(lease).toMatchObject({ releases: 1, freed: 1, isHeld: false })
    expect(recorder.started).toBe(0)
  })

  it('after a late refusal or error does not acquire again and leaves no unhandled rejection', async () => {
    for (const answer of ['deny', 'fail'] as const) {
      const { lease, clock, actor } = setUp()
      actor.stop()
      if (answer === 'deny') lease.deny()
      else lease.fail(new Error('aborted'))
      await settle()
      clock.increment(10_000)
      expect(lease).toMatchObject({ acquires: 1, releases: 0 })
    }
  })

  it('cancels a pending retry', async () => {
    const { lease, clock, actor } = setUp()
    lease.deny()
    await settle()
    actor.stop()
    clock.increment(10_000)
    expect(lease.acquires).toBe(1)
  })

  it('drops the stashed messages and calls onDropped', () => {
    const { actor, onDropped } = setUp()
    actor.send(message(1))
    actor.send(message(2))
    actor.stop()
    expect(onDropped.mock.calls).toEqual([1, 2].map((id) => [message(id), 'stopped']))
  })

  it('is reported like any stop: status stopped, observers complete', () => {
    const { actor, onComplete, onError } = setUp()
    actor.stop()
    expect(actor.getSnapshot().status).toBe('stopped')
    expect(onComplete).toHaveBeenCalledTimes(1)
    expect(onError).not.toHaveBeenCalled()
  })

  for (let count = 0; count <= 7; count += 1) {
    it(`${count} microtasks after the grant: it is released, once`, async () => {
      const { lease, recorder, actor } = setUp()
      lease.grant()
      await microtasks(count)
      actor.stop()
      await settle()
      expect(lease).toMatchObject({ grants: 1, releases: 1, freed: 1 })
      expect(recorder.alive).toBe(0)
    })
  }
})

describe('stop while active', () => {
  it('stops the worker, then releases', async () => {
    const { lease, recorder, actor } = await setUpActive()
    recorder.onStop = () => expect(lease.releases).toBe(0)
    actor.stop()
    expect(recorder.alive).toBe(0)
    expect(lease.freed).toBe(1)
    expect(actor.getSnapshot().status).toBe('stopped')
    expect(actor.getSnapshot().children.worker).toBeUndefined()
  })

  it('requested by the worker itself: releases after the worker has ended', async () => {
    const lease = new ScriptedLease()
    const log: string[] = []
    lease.onRelease = () => log.push('released') > 0
    const worker = fromCallback<Message>(({ receive }) => {
      receive(() => {
        actor.stop()
        log.push('handled')
      })
      return () => log.push('stopped')
    })
    const actor = createActor(leaseGuarded(worker, { lease, retryInterval: 1_000 })).start()
    lease.grant()
    await settle()
    actor.send(message(1))
    await settle()
    expect(log).toEqual(['handled', 'stopped', 'released'])
  })

  it('requested while the worker is busy with an event from other code: the same', async () => {
    const lease = new ScriptedLease()
    const log: string[] = []
    lease.onRelease = () => log.push('released') > 0
    const worker = fromTransition((_: null, event: { type: string }) => {
      if (event.type === 'end') actor.stop()
      log.push(event.type)
      return null
    }, null)
    const actor: AnyActor = createActor(leaseGuarded(worker, { lease, retryInterval: 1_000 })).start()
    lease.grant()
    await settle()
    actor.getSnapshot().children.worker.send({ type: 'end' })
    await settle()
    expect(log).toEqual(['end', 'xstate.stop', 'released'])
  })

  it('a loss afterwards has no effect', async () => {
    const { lease, actor, onError } = await setUpActive()
    lease.release = () => Promise.resolve(true)
    actor.stop()
    lease.lose()
    await settle()
    expect(onError).not.toHaveBeenCalled()
  })

  it('start after stop does not acquire again', async () => {
    const { lease, actor } = await setUpActive()
    actor.stop()
    actor.start()
    actor.send(message(1))
    await settle()
    expect(lease.acquires).toBe(1)
  })

  it('a stop sent as an event has the same effect', async () => {
    const { lease, recorder, actor } = await setUpActive()
    sendStop(actor)
    expect(recorder.alive).toBe(0)
    expect(lease.freed).toBe(1)
  })

  it('the actor stops when other code stops its worker', async () => {
    const { lease, actor } = await setUpActive()
    const { worker } = actor.getSnapshot().children
    if (worker !== undefined) sendStop(worker)
    expect(actor.getSnapshot().status).toBe('stopped')
    expect(lease.freed).toBe(1)
  })
})

describe('a release that fails', () => {
  it('is logged, and leaves no unhandled rejection', async () => {
    const { lease, actor, logger } = await setUpActive()
    const error = new Error('the store is away')
    lease.onRelease = () => Promise.reject(error)
    actor.stop()
    await settle()
    expect(logger.mock.calls).toEqual([["the release of lease 'orders' failed", error]])
  })

  it('synchronously: the same', async () => {
    const { lease, actor, logger } = await setUpActive()
    const error = new Error('mine')
    lease.release = () => {
      throw error
    }
    actor.stop()
    expect(logger.mock.calls).toEqual([["the release of lease 'orders' failed", error]])
  })
})

describe('nested guarded actors', () => {
  it('the outer lease is acquired first and released last', async () => {
    const log: string[] = []
    const [outer, inner] = ['outer', 'inner'].map((name) => {
      const lease = new ScriptedLease(name)
      lease.onRelease = () => log.push(name) > 0
      return lease
    }) as [ScriptedLease, ScriptedLease]
    const recorder = new Recorder()
    const guardedOnce = leaseGuarded(recorder.worker, { lease: inner, retryInterval: 1_000 })
    const actor = createActor(leaseGuarded(guardedOnce, { lease: outer, retryInterval: 1_000 })).start()
    actor.send(message(1))
    expect(inner.acquires).toBe(0)
    outer.grant()
    await settle()
    expect(recorder.started).toBe(0)
    inner.grant()
    await settle()
    actor.send(message(2))
    expect(recorder.handled).toEqual([1, 2])
    actor.stop()
    await settle()
    expect(log).toEqual(['inner', 'outer'])
    expect(recorder.alive).toBe(0)
  })

  it('the outer lease is lost: the worker is stopped and the inner lease released before onLost has returned', async () => {
    const outer = new ScriptedLease('outer')
    const inner = new ScriptedLease('inner')
    const recorder = new Recorder()
    const guardedOnce = leaseGuarded(recorder.worker, { lease: inner, retryInterval: 1_000 })
    const actor = createActor(leaseGuarded(guardedOnce, { lease: outer, retryInterval: 1_000 }))
    actor.subscribe({ error: () => {} })
    actor.start()
    outer.grant()
    await settle()
    inner.grant()
    await settle()
    outer.lose()
    expect(recorder.alive).toBe(0)
    expect(inner.freed).toBe(1)
    expect(outer.releases).toBe(0)
  })
})

describe('a guarded actor in a parent machine', () => {
  function setUpParent() {
    const lease = new ScriptedLease()
    const recorder = new Recorder()
    const guarded = leaseGuarded(recorder.worker, { lease, retryInterval: 1_000 })
    const machine = createMachine({
      initial: 'on',
      states: { on: { invoke: { id: 'guard', src: guarded }, on: { off: 'off' } }, off: {} },
    })
    return { lease, recorder, actor: createActor(machine, { clock: new SimulatedClock() }).start() }
  }

  it('the state is left: worker stopped, lease released', async () => {
    const { lease, recorder, actor } = setUpParent()
    lease.grant()
    await settle()
    actor.send({ type: 'off' })
    expect(recorder.alive).toBe(0)
    expect(lease.freed).toBe(1)
    actor.stop()
  })

  it('the state is left while acquiring: a late grant is released', async () => {
    const { lease, actor } = setUpParent()
    actor.send({ type: 'off' })
    lease.grant()
    await settle()
    expect(lease.freed).toBe(1)
    actor.stop()
  })

  it('the parent is stopped: worker stopped, lease released', async () => {
    const { lease, recorder, actor } = setUpParent()
    lease.grant()
    await settle()
    actor.stop()
    expect(recorder.alive).toBe(0)
    expect(lease.freed).toBe(1)
  })
})

describe('the end of the worker', () => {
  it('done: the actor is done with its output, and the lease is released before observers are notified', async () => {
    const lease = new ScriptedLease()
    const worker = fromPromise(() => Promise.resolve(42))
    const actor = createActor(leaseGuarded(worker, { lease, retryInterval: 1_000 }))
    const onComplete = vi.fn(() => expect(lease.freed).toBe(1))
    actor.subscribe({ complete: onComplete })
    actor.start()
    lease.grant()
    await settle()
    expect(onComplete).toHaveBeenCalledTimes(1)
    expect(actor.getSnapshot()).toMatchObject({ status: 'done', output: 42 })
    expect(lease.releases).toBe(1)
  })

  const failure = new Error('mine')
  const failing = {
    'a promise that rejects': fromPromise(() => Promise.reject(failure)),
    'a promise creator that throws': fromPromise(() => {
      throw failure
    }),
    'a callback that throws': fromCallback(() => {
      throw failure
    }),
    'a context that throws': createMachine({
      context: () => {
        throw failure
      },
    }),
    'an entry action that throws': createMachine({
      entry: () => {
        throw failure
      },
    }),
    'a receiver that throws': fromCallback(({ receive }) =>
      receive(() => {
        throw failure
      }),
    ),
  }
  for (const [kind, worker] of Object.entries(failing)) {
    it(`${kind}: the actor ends with that error, and the lease is released before observers are notified`, async () => {
      const lease = new ScriptedLease()
      const actor = createActor(leaseGuarded(worker, { lease, retryInterval: 1_000 }))
      const onError = vi.fn((_error: unknown) => expect(lease.freed).toBe(1))
      actor.subscribe({ error: onError })
      actor.start()
      actor.send({ type: 'message' })
      lease.grant()
      await settle()
      expect(onError.mock.calls).toEqual([[failure]])
      expect(lease.releases).toBe(1)
    })
  }

  it('final at once: the actor is done, and its stash is dropped', async () => {
    const lease = new ScriptedLease()
    const onDropped = vi.fn()
    const worker = createMachine({ initial: 'end', states: { end: { type: 'final' } }, output: 'nothing to do' })
    const actor = createActor(leaseGuarded(worker, { lease, retryInterval: 1_000, onDropped })).start()
    actor.send({ type: 'late' })
    lease.grant()
    await settle()
    expect(actor.getSnapshot()).toMatchObject({ status: 'done', output: 'nothing to do' })
    expect(onDropped.mock.calls).toEqual([[{ type: 'late' }, 'stopped']])
    expect(lease.freed).toBe(1)
  })

  it('while unstashing: the remaining messages are dropped', async () => {
    const lease = new ScriptedLease()
    const onDropped = vi.fn()
    const worker = createMachine({
      initial: 'one',
      states: { one: { on: { next: 'two' } }, two: { type: 'final' } },
    })
    const actor = createActor(leaseGuarded(worker, { lease, retryInterval: 1_000, onDropped })).start()
    for (const id of [1, 2, 3]) actor.send({ type: 'next', id })
    lease.grant()
    await settle()
    expect(actor.getSnapshot().status).toBe('done')
    expect(onDropped.mock.calls).toEqual([2, 3].map((id) => [{ type: 'next', id }, 'stopped']))
  })
})
