import { describe, expect, it, vi } from 'vitest'
import { assign, createActor, type Snapshot, setup } from 'xstate'
import { leaseGuarded, StashOverflowError } from '../src/index.js'
import { settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

const counter = setup({
  types: {
    context: {} as { total: number },
    events: {} as { type: 'add'; by: number } | { type: 'finish' },
    input: {} as { start: number },
    output: {} as number,
  },
}).createMachine({
  context: ({ input }) => ({ total: input.start }),
  initial: 'counting',
  states: {
    counting: {
      on: {
        add: { actions: assign({ total: ({ context, event }) => context.total + event.by }) },
        finish: 'finished',
      },
    },
    finished: { type: 'final' },
  },
  output: ({ context }) => context.total,
})

function guard(options: { onLeaseLost?: 'reacquire'; stash?: { capacity: number } } = {}) {
  const lease = new ScriptedLease()
  return { lease, logic: leaseGuarded(counter, { lease, retryInterval: 1_000, ...options }) }
}

/** Simulates storage in a database. */
function stored(snapshot: Snapshot<unknown>): Snapshot<unknown> {
  return JSON.parse(JSON.stringify(snapshot)) as Snapshot<unknown>
}

const input = { start: 100 }

async function storedWhileActive(): Promise<Snapshot<unknown>> {
  const { lease, logic } = guard()
  const actor = createActor(logic, { input }).start()
  lease.grant()
  await settle()
  actor.send({ type: 'add', by: 1 })
  const snapshot = stored(actor.getPersistedSnapshot())
  actor.stop()
  return snapshot
}

describe('a snapshot restored from storage', () => {
  it('never starts in active: the lease is acquired first, then the worker continues from its snapshot', async () => {
    const snapshot = await storedWhileActive()
    expect(snapshot).toMatchObject({ status: 'active', value: 'acquiringLease' })
    const { lease, logic } = guard()
    const actor = createActor(logic, { snapshot, input }).start()
    expect(actor.getSnapshot().value).toBe('acquiringLease')
    expect(actor.getSnapshot().children.worker).toBeUndefined()
    actor.send({ type: 'add', by: 10 })
    expect(lease.acquires).toBe(1)
    lease.grant()
    await settle()
    expect(actor.getSnapshot().children.worker?.getSnapshot().context.total).toBe(111)
    actor.stop()
  })

  it('does not start in active even if the stored value was changed', async () => {
    const snapshot = Object.assign(await storedWhileActive(), { value: 'active' })
    const { lease, logic } = guard()
    const actor = createActor(logic, { snapshot, input }).start()
    expect(actor.getSnapshot().value).toBe('acquiringLease')
    expect(lease.acquires).toBe(1)
    actor.stop()
  })

  it('restores its stash, in order, before later messages', async () => {
    const first = guard()
    const before = createActor(first.logic, { input }).start()
    before.send({ type: 'add', by: 1 })
    before.send({ type: 'finish' })
    const snapshot = stored(before.getPersistedSnapshot())
    before.stop()
    const { lease, logic } = guard()
    const actor = createActor(logic, { snapshot, input }).start()
    expect(actor.getSnapshot().context.stashed).toBe(2)
    actor.send({ type: 'add', by: 1_000 })
    lease.grant()
    await settle()
    expect(actor.getSnapshot()).toMatchObject({ status: 'done', output: 101 })
  })

  it('restores the input of the actor', async () => {
    const first = guard()
    const before = createActor(first.logic, { input }).start()
    const snapshot = stored(before.getPersistedSnapshot())
    before.stop()
    const { lease, logic } = guard()
    const actor = createActor(logic, { snapshot, input: { start: 0 } }).start()
    lease.grant()
    await settle()
    expect(actor.getSnapshot().children.worker?.getSnapshot().context.total).toBe(100)
    actor.stop()
  })

  it('can be stored again before a grant without loss of the worker snapshot', async () => {
    const { logic } = guard()
    const actor = createActor(logic, { snapshot: await storedWhileActive(), input }).start()
    const again = stored(actor.getPersistedSnapshot())
    actor.stop()
    const { lease, logic: other } = guard()
    const last = createActor(other, { snapshot: again, input }).start()
    lease.grant()
    await settle()
    expect(last.getSnapshot().children.worker?.getSnapshot().context.total).toBe(101)
    last.stop()
  })

  it('after a loss starts a new worker from the input, because another owner may have worked meanwhile', async () => {
    const { lease, logic } = guard({ onLeaseLost: 'reacquire' })
    const actor = createActor(logic, { snapshot: await storedWhileActive(), input }).start()
    lease.grant()
    await settle()
    lease.lose()
    lease.grant()
    await settle()
    expect(actor.getSnapshot().children.worker?.getSnapshot().context.total).toBe(100)
    actor.stop()
  })

  it('keeps a stash that is larger than the capacity, but accepts no more messages', async () => {
    const first = guard()
    const before = createActor(first.logic, { input }).start()
    for (let sent = 0; sent < 3; sent += 1) before.send({ type: 'add', by: 1 })
    const snapshot = stored(before.getPersistedSnapshot())
    before.stop()
    const { logic } = guard({ stash: { capacity: 2 } })
    const actor = createActor(logic, { snapshot, input })
    const onError = vi.fn()
    actor.subscribe({ error: onError })
    actor.start()
    expect(actor.getSnapshot().context.stashed).toBe(3)
    actor.send({ type: 'add', by: 1 })
    expect(onError).toHaveBeenCalledWith(expect.any(StashOverflowError))
  })

  it('of an actor that is done: stays done, and does not acquire', async () => {
    const first = guard()
    const before = createActor(first.logic, { input }).start()
    before.send({ type: 'finish' })
    first.lease.grant()
    await settle()
    const snapshot = stored(before.getPersistedSnapshot())
    const { lease, logic } = guard()
    const actor = createActor(logic, { snapshot, input }).start()
    expect(actor.getSnapshot()).toMatchObject({ status: 'done', output: 100 })
    expect(lease.acquires).toBe(0)
  })

  it('of a stopped actor: stays stopped, like any XState actor', async () => {
    const first = guard()
    const before = createActor(first.logic, { input }).start()
    before.stop()
    const { lease, logic } = guard()
    const actor = createActor(logic, { snapshot: stored(before.getPersistedSnapshot()), input }).start()
    expect(actor.getSnapshot().status).toBe('stopped')
    expect(lease.acquires).toBe(0)
  })

  it('inside the stored snapshot of a parent machine', async () => {
    const first = guard()
    const parentOf = (guarded: typeof first.logic) =>
      setup({ actors: { guarded } }).createMachine({ invoke: { id: 'guard', src: 'guarded', input } })
    const before = createActor(parentOf(first.logic)).start()
    first.lease.grant()
    await settle()
    before.getSnapshot().children.guard?.send({ type: 'add', by: 5 })
    const snapshot = stored(before.getPersistedSnapshot())
    before.stop()
    const { lease, logic } = guard()
    const parent = createActor(parentOf(logic), { snapshot }).start()
    const actor = parent.getSnapshot().children.guard
    expect(actor?.getSnapshot()).toMatchObject({ value: 'acquiringLease' })
    expect(lease.acquires).toBe(1)
    lease.grant()
    await settle()
    expect(actor?.getSnapshot()).toMatchObject({ value: 'active' })
    parent.stop()
    expect(lease.freed).toBe(1)
  })
})
