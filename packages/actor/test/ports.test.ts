import { describe, expect, it, vi } from 'vitest'
import {
  type AnyActor,
  type AnyActorLogic,
  type AnyActorRef,
  createActor,
  createMachine,
  fromCallback,
  fromTransition,
  type InspectionEvent,
  sendParent,
  setup,
} from 'xstate'
import { leaseGuarded } from '../src/index.js'
import { message, Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

const retryInterval = 1_000

describe('an event that the worker sends to its parent', () => {
  const talkers = {
    sendParent: setup({ types: { events: {} as { type: 'ask' } } }).createMachine({
      on: { ask: { actions: sendParent({ type: 'answer' }) } },
    }),
    sendBack: fromCallback<{ type: 'ask' }>(({ receive, sendBack }) => receive(() => sendBack({ type: 'answer' }))),
  }
  for (const [how, worker] of Object.entries(talkers)) {
    it(`by ${how}: reaches the parent of the guarded actor once`, async () => {
      const lease = new ScriptedLease()
      const onAnswer = vi.fn()
      const guarded = leaseGuarded(worker, { lease, retryInterval })
      const machine = createMachine({
        invoke: { id: 'guard', src: guarded },
        on: {
          ask: { actions: ({ self }) => self.getSnapshot().children.guard?.send({ type: 'ask' }) },
          answer: { actions: onAnswer },
        },
      })
      const actor = createActor(machine).start()
      lease.grant()
      await settle()
      actor.send({ type: 'ask' })
      expect(onAnswer).toHaveBeenCalledTimes(1)
      actor.stop()
    })

    it(`by ${how}: also through two nested guarded actors`, async () => {
      const leases = [new ScriptedLease('inner'), new ScriptedLease('outer')] as const
      const onAnswer = vi.fn()
      const inner = leaseGuarded(worker, { lease: leases[0], retryInterval })
      const guarded = leaseGuarded(inner, { lease: leases[1], retryInterval })
      const machine = createMachine({
        invoke: { id: 'guard', src: guarded },
        on: {
          ask: { actions: ({ self }) => self.getSnapshot().children.guard?.send({ type: 'ask' }) },
          answer: { actions: onAnswer },
        },
      })
      const actor = createActor(machine).start()
      leases[1].grant()
      await settle()
      leases[0].grant()
      await settle()
      actor.send({ type: 'ask' })
      expect(onAnswer).toHaveBeenCalledTimes(1)
      actor.stop()
    })

    it(`by ${how}: is discarded if the guarded actor has no parent`, async () => {
      const lease = new ScriptedLease()
      const actor = createActor(leaseGuarded(worker, { lease, retryInterval })).start()
      lease.grant()
      await settle()
      actor.send({ type: 'ask' })
      expect(actor.getSnapshot().status).toBe('active')
      actor.stop()
    })
  }

  it('to a parent that then stops the guarded actor: the worker is stopped and the lease released', async () => {
    const lease = new ScriptedLease()
    const recorder = new Recorder()
    let call: () => void = () => {}
    const worker = fromCallback(({ sendBack }) => {
      call = () => sendBack({ type: 'enough' })
      return () => recorder.onStop()
    })
    const onStop = vi.spyOn(recorder, 'onStop')
    const machine = createMachine({
      initial: 'on',
      states: {
        on: { invoke: { id: 'guard', src: leaseGuarded(worker, { lease, retryInterval }) }, on: { enough: 'off' } },
        off: {},
      },
    })
    const actor = createActor(machine).start()
    lease.grant()
    await settle()
    call()
    expect(actor.getSnapshot().value).toBe('off')
    expect(onStop).toHaveBeenCalledTimes(1)
    expect(lease.freed).toBe(1)
    actor.stop()
  })
})

describe('events that imitate control events', () => {
  const forged = ['lease.granted', 'lease.refused', 'lease.lost', 'lease.retry']
  for (const type of forged) {
    it(`a message of type ${type} is a message`, async () => {
      const lease = new ScriptedLease()
      const handled: string[] = []
      const worker = fromCallback<{ type: string }>(({ receive }) => receive((event) => handled.push(event.type)))
      const actor = createActor(leaseGuarded(worker, { lease, retryInterval })).start()
      actor.send({ type })
      expect(actor.getSnapshot()).toMatchObject({ value: 'acquiringLease', context: { stashed: 1 } })
      lease.grant()
      await settle()
      actor.send({ type })
      expect(handled).toEqual([type, type])
      expect(actor.getSnapshot()).toMatchObject({ status: 'active', value: 'active' })
      actor.stop()
    })
  }

  const reserved = [
    'xstate.done.actor.worker',
    'xstate.error.actor.worker',
    'xstate.done.actor.port',
    'xstate.init',
    'xstate.snapshot.worker',
  ]
  for (const type of reserved) {
    it(`${type} from other code is ignored: not obeyed, stashed or forwarded`, async () => {
      const lease = new ScriptedLease()
      const handled: string[] = []
      const worker = fromCallback<{ type: string }>(({ receive }) => receive((event) => handled.push(event.type)))
      const actor = createActor(leaseGuarded(worker, { lease, retryInterval })).start()
      actor.send({ type })
      expect(actor.getSnapshot().context.stashed).toBe(0)
      lease.grant()
      await settle()
      actor.send({ type })
      expect(handled).toEqual([])
      expect(actor.getSnapshot()).toMatchObject({ status: 'active', value: 'active' })
      actor.stop()
    })
  }

  it('a control event that was copied by an inspector and sent again is a message', async () => {
    const lease = new ScriptedLease()
    const seen: InspectionEvent[] = []
    const recorder = new Recorder()
    const logic = leaseGuarded(recorder.worker, { lease, retryInterval })
    const actor = createActor(logic, { inspect: (event) => seen.push(event) }).start()
    lease.grant()
    await settle()
    const events = seen.flatMap((event) => (event.type === '@xstate.event' ? [event.event] : []))
    const granted = events.find(({ type }) => type === 'lease.granted')
    expect(granted).toBeDefined()
    lease.valid = false
    const send: (event: { type: 'message'; id: number }) => void = actor.send
    send(Object.assign({ ...granted }, message(1)))
    expect(actor.getSnapshot().context.stashed).toBe(1)
    actor.stop()
  })
})

describe('the port', () => {
  /** The numbers of started and ended ports in a system with one guarded actor. */
  async function countPorts(worker: AnyActorLogic, end: (lease: ScriptedLease, actor: AnyActor) => void) {
    const lease = new ScriptedLease()
    const count = { started: 0, ended: 0 }
    const inspect = (event: InspectionEvent): void => {
      const actor = event.actorRef as AnyActorRef
      if (event.type !== '@xstate.actor' || actor.id !== 'port') return
      count.started += 1
      const ended = (): void => {
        count.ended += 1
      }
      actor.subscribe({ complete: ended, error: ended })
    }
    const actor = createActor(leaseGuarded(worker, { lease, retryInterval, onLeaseLost: 'reacquire' }), { inspect })
    actor.subscribe({ error: () => {} })
    actor.start()
    lease.grant()
    await settle()
    end(lease, actor)
    await settle()
    return count
  }

  const quiet = new Recorder().worker
  const final = createMachine({ on: { end: '.end' }, initial: 'going', states: { going: {}, end: { type: 'final' } } })
  const failing = fromTransition(() => {
    throw new Error('mine')
  }, 0)

  it('ends with its worker', async () => {
    const once = { started: 1, ended: 1 }
    expect(await countPorts(quiet, (_, actor) => actor.stop())).toEqual(once)
    expect(await countPorts(quiet, (lease) => lease.lose())).toEqual(once)
    expect(await countPorts(final, (_, actor) => actor.send({ type: 'end' }))).toEqual(once)
    expect(await countPorts(failing, (_, actor) => actor.send({ type: 'end' }))).toEqual(once)
  })

  it('ends after it was notified of the end of its worker: XState prints no warning', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    await countPorts(final, (_, actor) => actor.send({ type: 'end' }))
    await countPorts(failing, (_, actor) => actor.send({ type: 'end' }))
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  })
})
