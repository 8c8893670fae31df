import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createActor, fromCallback, fromPromise, type InspectionEvent, SimulatedClock } from 'xstate'
import { leaseGuarded } from '../src/index.js'
import { setUp } from './support/guarded-recorder.js'
import { type Message, message, Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

/** A value that `String()` cannot convert. */
const bare: unknown = Object.create(null)

function raise(error: unknown): never {
  throw error
}

describe('onDropped', () => {
  it.each<[string, () => unknown, unknown]>([
    ['throws a value without a text', () => raise(bare), bare],
    ['rejects', () => Promise.reject(bare), bare],
    ['returns a thenable that fails', () => Object.defineProperty({}, 'then', { value: () => raise(bare) }), bare],
  ])('%s: is logged for each message, and has no other effect', async (_, onDropped, error) => {
    const { actor, logger } = setUp({
      onDropped: onDropped as () => void,
      stash: { capacity: 1, overflow: 'drop-newest' },
    })
    for (const id of [1, 2, 3]) actor.send(message(id))
    await settle()
    expect(logger.mock.calls).toEqual([2, 3].map(() => ["onDropped failed for message 'message'", error]))
    expect(actor.getSnapshot().status).toBe('active')
    actor.stop()
  })

  it('never settles: the actor continues', async () => {
    const { actor, lease, recorder } = setUp({
      onDropped: (() => new Promise(() => {})) as unknown as () => void,
      stash: { capacity: 1, overflow: 'drop-oldest' },
    })
    for (const id of [1, 2]) actor.send(message(id))
    lease.grant()
    await settle()
    expect(recorder.handled).toEqual([2])
    actor.stop()
  })

  it('sends to the actor that dropped the message: the new message is dropped as well, and the actor ends', () => {
    const { actor, onError } = setUp({
      onDropped: ({ id }) => {
        if (id < 10) actor.send(message(id + 10))
      },
      stash: { capacity: 1 },
    })
    for (const id of [1, 2]) actor.send(message(id))
    expect(onError).toHaveBeenCalledTimes(1)
    expect(actor.getSnapshot().status).toBe('error')
  })
})

describe('a logger', () => {
  afterEach(() => void vi.restoreAllMocks())

  it.each([
    ['throws', () => raise(new Error('disk full'))],
    ['rejects', () => Promise.reject(bare)],
  ])('that %s: the error becomes a process warning, and the actor ends normally', async (_, logger) => {
    const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const lease = new ScriptedLease()
    lease.onRelease = () => raise(bare)
    const onDropped = (): never => raise(new Error('mine'))
    const logic = leaseGuarded(new Recorder().worker, {
      lease,
      onDropped,
      stash: { capacity: 1, overflow: 'drop-newest' },
    })
    const actor = createActor(logic, { logger, clock: new SimulatedClock() }).start()
    for (const id of [1, 2]) actor.send(message(id))
    await settle()
    expect(actor.getSnapshot().status).toBe('active')
    lease.grant()
    await settle()
    actor.stop()
    await nextTurn()
    expect(lease.releases).toBe(1)
    expect(emitted.mock.calls.map(([text]) => text)).toEqual([
      "onDropped failed for message 'message'",
      "the release of lease 'orders' failed",
    ])
  })
})

describe('a clock', () => {
  function startOn(clock: object) {
    const lease = new ScriptedLease()
    const recorder = new Recorder()
    const logger = vi.fn()
    const onError = vi.fn()
    const logic = leaseGuarded(recorder.worker, { lease, retryInterval: 1_000, onLeaseLost: 'reacquire' })
    let retries = 0
    const inspect = (event: InspectionEvent): void => {
      if (event.type === '@xstate.event' && event.event.type === 'lease.retry') retries += 1
    }
    const actor = createActor(logic, { clock: clock as SimulatedClock, logger, inspect })
    actor.subscribe({ error: onError })
    actor.start()
    return { lease, recorder, logger, onError, actor, retries: () => retries }
  }

  it('whose setTimeout throws: the actor ends with that error', async () => {
    const error = new Error('no timers left')
    const { lease, onError } = startOn({ setTimeout: () => raise(error), clearTimeout: () => {} })
    lease.deny()
    await settle()
    expect(onError.mock.calls).toEqual([[error]])
  })

  it('whose setTimeout throws while checkLease is false: the worker is stopped and the lease released', async () => {
    const error = new Error('no timers left')
    const { lease, recorder, actor, onError } = startOn({ setTimeout: () => raise(error), clearTimeout: () => {} })
    lease.grant()
    await settle()
    lease.valid = false
    actor.send(message(1))
    expect(onError.mock.calls).toEqual([[error]])
    expect(recorder.alive).toBe(0)
    expect(lease.freed).toBe(1)
  })

  it('whose clearTimeout throws: the error is logged, and the actor stops normally', async () => {
    const error = new Error('no such timer')
    const { lease, recorder, actor, logger } = startOn({ setTimeout: () => 1, clearTimeout: () => raise(error) })
    lease.grant()
    await settle()
    lease.valid = false
    actor.send(message(1))
    actor.stop()
    expect(actor.getSnapshot().status).toBe('stopped')
    expect(recorder.alive).toBe(0)
    expect(lease.freed).toBe(1)
    expect(logger.mock.calls).toEqual([['a timer of a guarded actor could not be cleared', error]])
  })

  it('that returns no timer and calls back twice, or after the end: one attempt per timer', async () => {
    const tasks: (() => void)[] = []
    const { lease, actor, retries } = startOn({
      setTimeout: (task: () => void) => void tasks.push(task),
      clearTimeout: () => {},
    })
    lease.deny()
    await settle()
    expect(tasks).toHaveLength(1)
    tasks[0]?.()
    tasks[0]?.()
    expect([lease.acquires, retries()]).toEqual([2, 1])
    lease.deny()
    await settle()
    expect(tasks).toHaveLength(2)
    actor.stop()
    tasks[1]?.()
    expect([lease.acquires, retries()]).toEqual([2, 1])
  })

  it('that calls back at once: the attempt is repeated each time', async () => {
    const { lease, actor } = startOn({ setTimeout: (task: () => void) => task(), clearTimeout: () => {} })
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(lease.acquires).toBe(attempt)
      lease.deny()
      await settle()
    }
    lease.grant()
    await settle()
    expect(actor.getSnapshot().value).toBe('active')
    actor.stop()
  })
})

describe('a worker', () => {
  it('whose stop throws: the lease is released', async () => {
    const lease = new ScriptedLease()
    const worker = fromCallback<Message>(() => () => raise(new Error('mine')))
    const actor = createActor(leaseGuarded(worker, { lease })).start()
    lease.grant()
    await settle()
    actor.stop()
    expect(actor.getSnapshot().status).toBe('stopped')
    expect(lease.freed).toBe(1)
    await settle()
  })

  it.each([
    ['nothing', undefined],
    ['a symbol', Symbol('no')],
    ['a value without a text', bare],
  ])('that rejects with %s: the actor ends with that value, and the lease is released', async (_, reason) => {
    const lease = new ScriptedLease()
    const onError = vi.fn()
    const actor = createActor(
      leaseGuarded(
        fromPromise(() => Promise.reject(reason)),
        { lease },
      ),
    )
    actor.subscribe({ error: onError })
    actor.start()
    lease.grant()
    await settle()
    expect(onError.mock.calls).toEqual([[reason]])
    expect(lease.freed).toBe(1)
  })

  it('whose initial snapshot throws: the actor ends with that error, and the lease is released', async () => {
    const error = new Error('mine')
    const worker = { ...new Recorder().worker, getInitialSnapshot: () => raise(error) } as unknown as Recorder['worker']
    const lease = new ScriptedLease()
    const actor = createActor(leaseGuarded(worker, { lease }))
    const onError = vi.fn()
    actor.subscribe({ error: onError })
    actor.start()
    lease.grant()
    await settle()
    expect(onError.mock.calls).toEqual([[error]])
    expect(lease.freed).toBe(1)
  })
})

describe('an inspector that throws', () => {
  it('is logged, and causes no unhandled rejection', async () => {
    const lease = new ScriptedLease()
    const logger = vi.fn()
    const error = new Error('mine')
    const inspect = (event: InspectionEvent): void => {
      if (event.type === '@xstate.event' && event.event.type === 'lease.granted') raise(error)
    }
    const actor = createActor(leaseGuarded(new Recorder().worker, { lease }), { logger, inspect }).start()
    lease.grant()
    await settle()
    expect(logger.mock.calls).toEqual([["the event 'lease.granted' of a guarded actor could not be sent", error]])
    actor.stop()
    expect(lease.freed).toBe(1)
  })
})
