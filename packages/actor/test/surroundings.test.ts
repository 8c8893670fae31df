import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  type AnyActorRef,
  createActor,
  emit,
  fromTransition,
  type InspectionEvent,
  SimulatedClock,
  setup,
  toPromise,
  waitFor,
} from 'xstate'
import { leaseGuarded } from '../src/index.js'
import { setUp, setUpActive } from './support/guarded-recorder.js'
import { message, Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

const retryInterval = 1_000

describe("XState's own tools on a guarded actor", () => {
  afterEach(() => void vi.useRealTimers())

  it('waitFor and matches', async () => {
    const { lease, actor } = setUp()
    const active = waitFor(actor, (snapshot) => snapshot.matches('active'))
    lease.grant()
    expect((await active).value).toBe('active')
    actor.stop()
  })

  it('subscribe: observers see active, and the stash being emptied', async () => {
    const { lease, recorder, actor } = setUp()
    const seen: [string, number, number][] = []
    actor.send(message(1))
    actor.send(message(2))
    actor.subscribe({
      next: ({ value, context }) => seen.push([value, context.stashed, recorder.handled.length]),
      error: () => {},
    })
    lease.grant()
    await settle()
    expect(seen).toEqual([
      ['active', 2, 0],
      ['active', 1, 1],
      ['active', 0, 2],
    ])
    actor.stop()
  })

  it('children.worker: the worker itself', async () => {
    const lease = new ScriptedLease()
    const counter = fromTransition((count: number, _event: { type: 'add' }) => count + 1, 0)
    const actor = createActor(leaseGuarded(counter, { lease, retryInterval })).start()
    lease.grant()
    await settle()
    actor.send({ type: 'add' })
    actor.send({ type: 'add' })
    expect(actor.getSnapshot().children.worker?.getSnapshot().context).toBe(2)
    actor.stop()
  })

  it('on: the guarded actor emits the events of the worker', async () => {
    const lease = new ScriptedLease()
    const worker = setup({
      types: { events: {} as { type: 'ring' }, emitted: {} as { type: 'rang' } },
    }).createMachine({ on: { ring: { actions: emit({ type: 'rang' }) } } })
    const actor = createActor(leaseGuarded(worker, { lease, retryInterval }))
    const onRang = vi.fn()
    actor.on('rang', onRang)
    actor.start()
    actor.send({ type: 'ring' })
    lease.grant()
    await settle()
    expect(onRang.mock.calls).toEqual([[{ type: 'rang' }]])
    actor.stop()
  })

  it('systemId: names the guarded actor, and not its worker', async () => {
    const lease = new ScriptedLease()
    const logic = leaseGuarded(new Recorder().worker, { lease, retryInterval, onLeaseLost: 'reacquire' })
    const actor = createActor(logic, { systemId: 'orders' }).start()
    lease.grant()
    await settle()
    lease.lose()
    lease.grant()
    await settle()
    expect(actor.system.get('orders')).toBe(actor)
    actor.stop()
  })

  it('inspect: shows the guarded actor, the port, the worker and the control events', async () => {
    const lease = new ScriptedLease()
    const clock = new SimulatedClock()
    const ids = new Set<string>()
    const moves: string[] = []
    const inspect = (event: InspectionEvent): void => {
      const actor = event.actorRef as AnyActorRef
      if (event.type === '@xstate.actor') ids.add(actor.id)
      if (event.type === '@xstate.event' && actor.id === 'guard') moves.push(event.event.type)
      // Inspectors serialise events.
      JSON.stringify(event)
    }
    const logic = leaseGuarded(new Recorder().worker, { lease, retryInterval, onLeaseLost: 'reacquire' })
    const actor = createActor(logic, { id: 'guard', clock, inspect }).start()
    lease.deny()
    await settle()
    clock.increment(1_000)
    lease.grant()
    await settle()
    lease.lose()
    actor.stop()
    expect([...ids].sort()).toEqual(['guard', 'port', 'worker'])
    expect(moves).toEqual(['xstate.init', 'lease.refused', 'lease.retry', 'lease.granted', 'lease.lost'])
  })

  it("the worker's own timers run on the clock of the system", async () => {
    const lease = new ScriptedLease()
    const clock = new SimulatedClock()
    const worker = setup({}).createMachine({
      initial: 'waiting',
      states: { waiting: { after: { 500: 'done' } }, done: { type: 'final' } },
    })
    const actor = createActor(leaseGuarded(worker, { lease, retryInterval }), { clock }).start()
    lease.grant()
    await settle()
    const ended = toPromise(actor)
    clock.increment(500)
    await ended
    expect(lease.freed).toBe(1)
  })

  it('the default clock: a retry runs on fake timers and keeps the process alive until the actor is stopped', async () => {
    vi.useFakeTimers()
    const lease = new ScriptedLease()
    const actor = createActor(leaseGuarded(new Recorder().worker, { lease, retryInterval })).start()
    const arm = vi.spyOn(globalThis, 'setTimeout')
    lease.deny()
    await vi.advanceTimersByTimeAsync(0)
    const timer: unknown = arm.mock.results[0]?.value
    expect(timer).toMatchObject({ hasRef: expect.any(Function) })
    expect((timer as NodeJS.Timeout).hasRef()).toBe(true)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(lease.acquires).toBe(2)
    actor.stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('snapshots can be written as JSON', async () => {
    const { actor } = await setUpActive()
    expect(JSON.parse(JSON.stringify(actor.getSnapshot()))).toMatchObject({ status: 'active', value: 'active' })
    actor.stop()
  })
})
