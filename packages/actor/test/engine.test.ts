import { type Clock, createLease, MemoryLeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { createActor, SimulatedClock } from 'xstate'
import { leaseGuarded } from '../src/index.js'
import { message, Recorder } from './support/recorder.js'

const settings = { heartbeatInterval: 1_000, heartbeatTimeout: 10_000, operationTimeout: 500 }

/** A guarded recorder that acquires the same name as the others in the store. */
function createRival(owner: string, store: MemoryLeaseStore, clocks: { lease: Clock; actor: SimulatedClock }) {
  const lease = createLease(store, 'orders', { owner, clock: clocks.lease, ...settings })
  const recorder = new Recorder()
  const logic = leaseGuarded(recorder.worker, { lease, retryInterval: 2_000 })
  const actor = createActor(logic, { clock: clocks.actor })
  actor.subscribe({ error: () => {} })
  return { lease, recorder, actor }
}

/** Two rivals on virtual time. */
function setUpRivals() {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const clocks = { lease: clock, actor: new SimulatedClock() }
  const [a, b] = [createRival('a', store, clocks), createRival('b', store, clocks)]
  const advance = async (duration: number): Promise<void> => {
    for (let passed = 0; passed < duration; passed += 500) {
      await clock.advance(500)
      clocks.actor.increment(500)
      await clock.settle()
    }
  }
  return { clock, store, a, b, advance }
}

describe('guarded actors over the engine and the memory store', () => {
  it('with wait, use the queue of the store: a release is passed on to the next actor at once', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const [first, second] = ['first', 'second'].map((owner) => {
      const lease = createLease(store, 'orders', { owner, clock, ...settings })
      const logic = leaseGuarded(new Recorder().worker, {
        lease,
        retryInterval: 60_000,
        wait: Number.POSITIVE_INFINITY,
      })
      return createActor(logic, { clock: new SimulatedClock() })
    })
    first?.start()
    await clock.settle()
    second?.start()
    await clock.settle()
    expect(second?.getSnapshot().matches('acquiringLease')).toBe(true)
    const before = clock.now()
    first?.stop()
    await clock.settle()
    expect(second?.getSnapshot().matches('active')).toBe(true)
    expect(clock.now()).toBe(before)
    second?.stop()
    // The engine arms its timers together, up to 50 ms late. This shared timer may still be pending.
    await clock.advance(50)
    expect(clock.pending).toBe(0)
  })

  it('one works, the other stashes; when the first stops, the other takes over and handles its stash', async () => {
    const { a, b, advance } = setUpRivals()
    a.actor.start()
    await advance(500)
    b.actor.start()
    a.actor.send(message(1))
    b.actor.send(message(2))
    await advance(20_000)
    expect([a.recorder.handled, b.recorder.handled]).toEqual([[1], []])
    expect(b.actor.getSnapshot().context.attempts).toBeGreaterThan(2)
    a.actor.stop()
    expect(a.recorder.alive).toBe(0)
    await advance(2_500)
    expect(b.recorder.handled).toEqual([2])
    expect(b.lease.fencingToken).toBeDefined()
    b.actor.stop()
    await advance(500)
  })

  it('a blocked event loop: the next message is not handled, and the other actor takes over', async () => {
    const { clock, a, b, advance } = setUpRivals()
    a.actor.start()
    await advance(500)
    b.actor.start()
    await advance(500)
    clock.block(settings.heartbeatTimeout)
    a.actor.send(message(1))
    b.actor.send(message(2))
    expect(a.recorder.handled).toEqual([])
    await advance(4_000)
    expect(a.actor.getSnapshot().error).toMatchObject({ name: 'LeaseLostError', reason: 'expired' })
    expect([a.recorder.alive, b.recorder.alive]).toEqual([0, 1])
    expect([a.recorder.handled, b.recorder.handled]).toEqual([[], [2]])
    b.actor.stop()
    await advance(500)
  })

  it('broken by an operator: the worker is stopped at the next heartbeat, and the actor ends with the reason', async () => {
    const { store, a, advance } = setUpRivals()
    a.actor.start()
    await advance(500)
    await store.break('orders', { period: 0 }, new AbortableCall())
    await advance(settings.heartbeatInterval * 1.5)
    expect(a.recorder.alive).toBe(0)
    expect(a.actor.getSnapshot().error).toMatchObject({ name: 'LeaseLostError', reason: 'broken' })
  })

  it('stopped during an attempt: nothing is held', async () => {
    const { store, a, advance } = setUpRivals()
    a.actor.start()
    a.actor.stop()
    await advance(1_000)
    const record = await store.read('orders', new AbortableCall())
    expect(record?.state ?? 'available').toBe('available')
  })
})
