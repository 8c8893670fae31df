import { LeaseConfigurationError, LeaseLostError, type LeaseLostReason } from '@leasehold/core'
import { describe, expect, it, vi } from 'vitest'
import { type AnyEventObject, createActor, createMachine, fromCallback, SimulatedClock } from 'xstate'
import { type LeaseGuardedOptions, leaseGuarded, resign } from '../src/index.js'
import { settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

const drain = { event: { type: 'finish' }, stopTimeout: 5_000 } as const

type Working = ReturnType<typeof makeWorker>['worker']

/** A worker that finishes its work after it was asked to: the test says when. */
function makeWorker() {
  const received: string[] = []
  const worker = createMachine({
    initial: 'working',
    states: {
      working: { on: { finish: 'finishing', end: 'done' } },
      finishing: { on: { end: 'done', fail: 'failed' } },
      failed: {
        entry: () => {
          throw new Error('mine')
        },
      },
      done: { type: 'final' },
    },
    on: { '*': { actions: ({ event }) => received.push(event.type) } },
    output: { done: 7 },
  })
  return { worker, received }
}

async function setUp(options: Partial<LeaseGuardedOptions<Working>> = {}) {
  const { worker, received } = makeWorker()
  const lease = new ScriptedLease()
  const clock = new SimulatedClock()
  const [logger, onDropped, onError, onComplete] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()]
  const logic = leaseGuarded(worker, { lease, retryInterval: 1_000, drain, onDropped, ...options })
  const actor = createActor(logic, { clock, logger })
  actor.subscribe({ error: onError, complete: onComplete })
  actor.start()
  lease.grant()
  await settle()
  const child = actor.getSnapshot().children.worker
  if (child === undefined) throw new Error('the worker is not there')
  return { lease, clock, logic, actor, child, received, logger, onDropped, onError, onComplete }
}

/** Whether a promise has settled. */
function watch(promise: Promise<unknown>) {
  const seen = { settled: false }
  promise.then(
    () => {
      seen.settled = true
    },
    () => {
      seen.settled = true
    },
  )
  return seen
}

describe('resign with a drain', () => {
  it('the worker receives the event and keeps the lease until it is done; then the actor is done with its output', async () => {
    const { lease, actor, child, onComplete } = await setUp()
    const resigned = watch(resign(actor))
    expect(child.getSnapshot().value).toBe('finishing')
    expect(actor.getSnapshot()).toMatchObject({ status: 'active', value: 'active', context: { draining: true } })
    await settle()
    expect(lease.releases).toBe(0)
    expect(resigned.settled).toBe(false)
    child.send({ type: 'end' })
    await settle()
    expect(lease).toMatchObject({ releases: 1, freed: 1 })
    expect(resigned.settled).toBe(true)
    expect(actor.getSnapshot()).toMatchObject({ status: 'done', output: { done: 7 }, context: { draining: false } })
    expect(onComplete).toHaveBeenCalledTimes(1)
  })

  it('the time is up: the worker is stopped, then the lease is released, and the actor is stopped', async () => {
    const { lease, clock, actor, child } = await setUp()
    const resigned = watch(resign(actor))
    clock.increment(4_999)
    await settle()
    expect(lease.releases).toBe(0)
    expect(child.getSnapshot().status).toBe('active')
    clock.increment(1)
    await settle()
    expect(child.getSnapshot().status).toBe('stopped')
    expect(lease).toMatchObject({ releases: 1, freed: 1 })
    expect(resigned.settled).toBe(true)
    expect(actor.getSnapshot().status).toBe('stopped')
  })

  it('new messages are dropped, and do not reach the worker', async () => {
    const { actor, received, onDropped } = await setUp()
    void resign(actor)
    actor.send({ type: 'late' })
    expect(received).toEqual([])
    expect(onDropped.mock.calls).toEqual([[{ type: 'late' }, 'stopped']])
    actor.stop()
  })

  it('the worker fails meanwhile: the lease is released, and the actor ends with its error', async () => {
    const { lease, actor, child, onError } = await setUp()
    const resigned = resign(actor)
    child.send({ type: 'fail' })
    await resigned
    expect(lease.freed).toBe(1)
    expect(onError.mock.calls).toEqual([[new Error('mine')]])
  })

  it('the lease is lost meanwhile: the worker is stopped inside onLost, and the actor ends with a LeaseLostError', async () => {
    const { lease, clock, actor, child, onError } = await setUp()
    const resigned = resign(actor)
    lease.lose({ reason: 'taken' })
    expect(child.getSnapshot().status).toBe('stopped')
    await resigned
    expect(onError.mock.calls).toEqual([[expect.any(LeaseLostError)]])
    expect(lease.releases).toBe(0)
    clock.increment(10_000)
  })

  it('the lease is lost meanwhile, policy reacquire: the actor is stopped and does not acquire again', async () => {
    const { lease, actor, child, onError } = await setUp({ onLeaseLost: 'reacquire' })
    const resigned = resign(actor)
    lease.lose()
    expect(child.getSnapshot().status).toBe('stopped')
    await resigned
    expect(actor.getSnapshot().status).toBe('stopped')
    expect(onError).not.toHaveBeenCalled()
    expect(lease.acquires).toBe(1)
  })

  it('a second resign waits for the same end, and the worker is asked once', async () => {
    const { lease, actor, child, received } = await setUp()
    const both = [resign(actor), resign(actor)]
    child.send({ type: 'end' })
    await Promise.all(both)
    expect(lease.releases).toBe(1)
    expect(received).toEqual([])
  })

  it('the snapshot stored meanwhile continues after a restore', async () => {
    const { actor, logic } = await setUp()
    void resign(actor)
    const stored = JSON.parse(JSON.stringify(actor.getPersistedSnapshot()))
    expect(stored).toMatchObject({ status: 'active', value: 'acquiringLease', worker: { value: 'finishing' } })
    expect(createActor(logic, { snapshot: stored }).getSnapshot().context.draining).toBe(false)
    actor.stop()
  })
})

describe('resign without a drain', () => {
  it('no option drain: the worker is stopped at once, and the promise waits for the release', async () => {
    const { lease, actor, child } = await setUp({ drain: undefined })
    let finish: (released: boolean) => void = () => {}
    lease.onRelease = () =>
      new Promise((resolve) => {
        finish = resolve
      })
    const resigned = watch(resign(actor))
    expect(child.getSnapshot().status).toBe('stopped')
    expect(actor.getSnapshot().status).toBe('stopped')
    await settle()
    expect(resigned.settled).toBe(false)
    finish(true)
    await settle()
    expect(resigned.settled).toBe(true)
  })

  it('while acquiring: the attempt is aborted, and a late grant is released before the promise resolves', async () => {
    const { worker } = makeWorker()
    const lease = new ScriptedLease()
    const actor = createActor(leaseGuarded(worker, { lease, drain })).start()
    const { signal } = lease.asked
    const resigned = watch(resign(actor))
    expect(signal?.aborted).toBe(true)
    await settle()
    expect(resigned.settled).toBe(false)
    lease.grant()
    await settle()
    expect(lease.freed).toBe(1)
    expect(resigned.settled).toBe(true)
  })

  it('the lease is not valid: the worker may not work any more, so it is stopped at once', async () => {
    const { lease, actor, child } = await setUp()
    lease.valid = false
    await resign(actor)
    expect(child.getSnapshot().status).toBe('stopped')
    expect(lease.releases).toBe(1)
  })

  it('a release that fails is logged, and the promise resolves', async () => {
    const { lease, actor, child, logger } = await setUp()
    lease.onRelease = () => Promise.reject(new Error('the store is away'))
    const resigned = resign(actor)
    child.send({ type: 'end' })
    await resigned
    expect(logger).toHaveBeenCalledTimes(1)
  })

  it('an actor that has not started, or has ended: the promise resolves', async () => {
    const { worker } = makeWorker()
    const lease = new ScriptedLease()
    await resign(createActor(leaseGuarded(worker, { lease })))
    const { lease: lost, actor } = await setUp()
    lost.lose()
    await resign(actor)
  })

  it('another actor: a LeaseConfigurationError', async () => {
    const { child } = await setUp()
    await expect(resign(child)).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(resign(child)).rejects.toThrow('resign needs a guarded actor')
  })
})

describe('stop with a drain', () => {
  it('the actor is stopped at once; the worker keeps the lease until it is done', async () => {
    const { lease, clock, actor, child, onComplete } = await setUp()
    actor.stop()
    expect(actor.getSnapshot().status).toBe('stopped')
    expect(onComplete).toHaveBeenCalledTimes(1)
    expect(child.getSnapshot().value).toBe('finishing')
    const resigned = watch(resign(actor))
    await settle()
    expect(lease.releases).toBe(0)
    expect(resigned.settled).toBe(false)
    child.send({ type: 'end' })
    await settle()
    expect(lease).toMatchObject({ releases: 1, freed: 1 })
    expect(resigned.settled).toBe(true)
    clock.increment(10_000)
    await settle()
    expect(lease.releases).toBe(1)
  })

  it('the time is up: the worker is stopped, then the lease is released', async () => {
    const { lease, clock, actor, child } = await setUp()
    actor.stop()
    clock.increment(5_000)
    expect(child.getSnapshot().status).toBe('stopped')
    expect(lease.freed).toBe(1)
  })

  it('the lease is lost meanwhile: the worker is stopped inside onLost, the loss is logged, nothing is released', async () => {
    const { lease, actor, child, logger } = await setUp()
    actor.stop()
    lease.lose({ reason: 'taken' })
    expect(child.getSnapshot().status).toBe('stopped')
    await resign(actor)
    expect(lease.releases).toBe(0)
    expect(logger.mock.calls).toEqual([
      ['the lease was lost while the worker of a stopped actor drained', expect.any(LeaseLostError)],
    ])
  })

  it('the worker fails meanwhile: its error is logged, and the lease is released', async () => {
    const { lease, actor, child, logger } = await setUp()
    actor.stop()
    child.send({ type: 'fail' })
    expect(lease.freed).toBe(1)
    expect(logger.mock.calls).toEqual([['the worker of a stopped actor failed while it drained', new Error('mine')]])
  })

  it('the worker is done inside the event: the lease is released at once', async () => {
    const lease = new ScriptedLease()
    const worker = createMachine({
      initial: 'working',
      states: { working: { on: { finish: 'done' } }, done: { type: 'final' } },
    })
    const actor = createActor(leaseGuarded(worker, { lease, drain })).start()
    lease.grant()
    await settle()
    actor.stop()
    expect(lease.freed).toBe(1)
  })

  it('during a resignation: the time limit stays the same', async () => {
    const { lease, clock, actor } = await setUp()
    const resigned = watch(resign(actor))
    clock.increment(3_000)
    actor.stop()
    clock.increment(1_999)
    await settle()
    expect(lease.releases).toBe(0)
    clock.increment(1)
    await settle()
    expect(lease.freed).toBe(1)
    expect(resigned.settled).toBe(true)
  })

  it('the parent leaves the state: the worker drains, and the same lease is acquired again only after its release', async () => {
    const lease = new ScriptedLease()
    const { worker } = makeWorker()
    const guarded = leaseGuarded(worker, { lease, drain })
    const on = { invoke: { id: 'guard', src: guarded }, on: { off: 'off' } }
    const machine = createMachine({ initial: 'on', states: { on, off: { on: { on: 'on' } } } })
    const parent = createActor(machine, { clock: new SimulatedClock() }).start()
    lease.grant()
    await settle()
    const old = parent.getSnapshot().children.guard?.getSnapshot().children.worker
    parent.send({ type: 'off' })
    expect(old.getSnapshot().value).toBe('finishing')
    expect(lease.releases).toBe(0)
    parent.send({ type: 'on' })
    await settle()
    expect(lease.acquires).toBe(1)
    old.send({ type: 'end' })
    await settle()
    expect(lease).toMatchObject({ freed: 1, acquires: 2 })
    parent.stop()
  })

  it('a clock that throws: the worker is stopped at once, and the lease is released', async () => {
    const { lease, clock, actor, child, logger } = await setUp()
    clock.setTimeout = () => {
      throw new Error('no timers')
    }
    actor.stop()
    expect(child.getSnapshot().status).toBe('stopped')
    expect(lease.freed).toBe(1)
    expect(logger.mock.calls).toEqual([['the worker of a guarded actor could not drain', new Error('no timers')]])
  })

  it('checkLease throws: the same', async () => {
    const { lease, actor, child } = await setUp()
    lease.checkLease = () => {
      throw new Error('mine')
    }
    actor.stop()
    expect(child.getSnapshot().status).toBe('stopped')
    expect(lease.freed).toBe(1)
  })

  it('a callback, which is never done, can end itself by a stop of its own', async () => {
    const lease = new ScriptedLease()
    const worker = fromCallback<AnyEventObject>(({ receive, self }) => {
      receive(({ type }) => {
        if (type === 'finish') (self as { send(event: AnyEventObject): void }).send({ type: 'xstate.stop' })
      })
    })
    const actor = createActor(leaseGuarded(worker, { lease, drain })).start()
    lease.grant()
    await settle()
    actor.stop()
    expect(lease.freed).toBe(1)
  })
})

describe('onLeaseLost as a function', () => {
  const byReason = vi.fn(({ reason }: { reason: LeaseLostReason }) =>
    reason === 'expired' ? ('reacquire' as const) : ('stop' as const),
  )

  it('decides for each loss, after the worker was stopped', async () => {
    const { lease, actor, child, onError } = await setUp({ onLeaseLost: byReason })
    byReason.mockImplementationOnce(() => {
      expect(child.getSnapshot().status).toBe('stopped')
      return 'reacquire'
    })
    lease.lose({ reason: 'expired' })
    expect(actor.getSnapshot().value).toBe('acquiringLease')
    lease.grant()
    await settle()
    lease.lose({ reason: 'taken' })
    expect(byReason.mock.calls.map(([{ reason }]) => reason)).toEqual(['expired', 'taken'])
    expect(onError.mock.calls).toEqual([[expect.objectContaining({ reason: 'taken' })]])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('mine')
      },
    ],
    ['returns a promise', () => Promise.reject(new Error('mine'))],
    ['returns anything else', () => 'retry'],
  ])('that %s: the actor ends with the loss, and the error is logged', async (_, decide) => {
    const { lease, onError, logger } = await setUp({ onLeaseLost: decide as () => 'stop' })
    lease.lose()
    expect(onError.mock.calls).toEqual([[expect.any(LeaseLostError)]])
    expect(logger).toHaveBeenCalledWith('onLeaseLost failed, so the actor ends', expect.any(Error))
    await settle()
  })
})
