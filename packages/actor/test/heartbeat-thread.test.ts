import { createLease, type LeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createActor } from 'xstate'
import { block } from '../../heartbeat-thread/test/support/block.js'
import { seeGrantsInThreads } from '../../heartbeat-thread/test/support/granted-in-thread.js'
import { fromSource } from '../../heartbeat-thread/test/support/thread-options.js'
import { leaseGuarded } from '../src/index.js'
import { message, Recorder } from './support/recorder.js'

/** Milliseconds; far more than a busy machine takes for a heartbeat. */
const TTL = 4_000
/** For what takes a few messages between the threads, or the time until a lease expires. */
const waiting = { timeout: 60_000, interval: 20 }

let thread: HeartbeatThread
let store: LeaseStore

beforeAll(async () => {
  thread = new HeartbeatThread(fromSource)
  store = await thread.open({ leaseClass: '@leasehold/core#memoryLease' })
})

afterAll(() => thread.close())

/** A guarded recorder that acquires a name beside others. The engine of its lease runs in the thread. */
function createRival(
  name: string,
  owner: string,
  options: { unresponsiveAfter?: number; wait?: number } = {},
  over = store,
) {
  const { unresponsiveAfter, wait } = options
  const lease = createLease(over, name, { owner, heartbeatTimeout: TTL, unresponsiveAfter })
  const recorder = new Recorder()
  const waits = wait === undefined ? {} : { wait }
  const actor = createActor(leaseGuarded(recorder.worker, { lease, retryInterval: TTL / 20, ...waits }))
  const onError = vi.fn()
  actor.subscribe({ error: onError })
  return { lease, recorder, actor, onError }
}

type Rival = ReturnType<typeof createRival>

const isActive = ({ actor }: Rival): boolean => actor.getSnapshot().matches('active')
const untilActive = (rival: Rival): Promise<boolean> => vi.waitUntil(() => isActive(rival), waiting)

/** The holder, and another that has asked for the name in vain. */
async function setUpRivals(name: string, options: { unresponsiveAfter?: number } = {}) {
  const [a, b] = [createRival(name, 'a', options), createRival(name, 'b')]
  a.actor.start()
  await untilActive(a)
  b.actor.start()
  await vi.waitUntil(() => b.actor.getSnapshot().context.attempts > 2, waiting)
  return { a, b }
}

// One after the other, because some of them block the event loop.
describe('guarded actors over leases of a heartbeat thread', () => {
  it('with wait, use the queue of the store: a release is passed on to the next actor', async () => {
    const options = { wait: Number.POSITIVE_INFINITY }
    const [first, second] = [createRival('queue', 'first', options), createRival('queue', 'second', options)]
    first.actor.start()
    await untilActive(first)
    second.actor.start()
    await vi.waitUntil(() => second.lease.state === 'acquiring', waiting)
    expect(isActive(second)).toBe(false)
    first.actor.stop()
    await untilActive(second)
    expect(second.actor.getSnapshot().context.attempts).toBe(0)
    second.actor.stop()
  })

  it('one works, the other stashes; when the first stops, the other takes over and handles its stash', async () => {
    const { a, b } = await setUpRivals('stash')
    a.actor.send(message(1))
    b.actor.send(message(2))
    expect([a.recorder.handled, b.recorder.handled]).toEqual([[1], []])
    a.actor.stop()
    expect(a.recorder.alive).toBe(0)
    await vi.waitUntil(() => b.recorder.handled.length > 0, waiting)
    expect(b.recorder.handled).toEqual([2])
    expect(b.lease.fencingToken).toBeDefined()
    b.actor.stop()
  })

  it('a blocked event loop: the next message is handled, and the other actor does not take over', async () => {
    const { a, b } = await setUpRivals('blocked')
    block(2 * TTL)
    a.actor.send(message(1))
    expect(a.recorder.handled).toEqual([1])
    const { attempts } = b.actor.getSnapshot().context
    await vi.waitUntil(() => b.actor.getSnapshot().context.attempts > attempts + 1, waiting)
    expect([isActive(a), isActive(b)]).toEqual([true, false])
    a.actor.stop()
    b.actor.stop()
  })

  it('an event loop that is blocked past unresponsiveAfter: the next message is not handled, and the other takes over', async () => {
    const { a, b } = await setUpRivals('unresponsive', { unresponsiveAfter: TTL / 4 })
    block(2 * TTL)
    a.actor.send(message(1))
    b.actor.send(message(2))
    expect(a.recorder.handled).toEqual([])
    await untilActive(b)
    await vi.waitUntil(() => a.onError.mock.calls.length > 0, waiting)
    expect(a.actor.getSnapshot().error).toMatchObject({ name: 'LeaseLostError', reason: 'unresponsive' })
    expect([a.recorder.alive, b.recorder.alive]).toEqual([0, 1])
    expect([a.recorder.handled, b.recorder.handled]).toEqual([[], [2]])
    b.actor.stop()
  })

  it('broken by an operator: the worker is stopped at the next heartbeat, and the actor ends with the reason', async () => {
    const a = createRival('broken', 'a')
    a.actor.start()
    await untilActive(a)
    await store.break?.('broken', { period: 0 }, new AbortableCall())
    await vi.waitUntil(() => a.onError.mock.calls.length > 0, waiting)
    expect(a.recorder.alive).toBe(0)
    expect(a.actor.getSnapshot().error).toMatchObject({ name: 'LeaseLostError', reason: 'broken' })
  })

  it('the thread dies: the worker is stopped at once, and the next actor starts a new thread', async () => {
    const own = new HeartbeatThread(fromSource)
    const leaseClass = `${new URL('../../heartbeat-thread/test/support/faulty-lease.ts', import.meta.url).pathname}#faultyLease`
    const faulty = await own.open({ leaseClass })
    const recorder = new Recorder()
    const lease = createLease(faulty, 'orders', { heartbeatTimeout: TTL })
    const logic = leaseGuarded(recorder.worker, { lease, retryInterval: TTL / 20 })
    const [first, second] = [createActor(logic), createActor(logic)]
    const onError = vi.fn()
    first.subscribe({ error: onError })
    first.start()
    await vi.waitUntil(() => recorder.alive === 1, waiting)
    // The thread ends at the acquisition of this name.
    await expect(createLease(faulty, 'throws').acquire()).rejects.toMatchObject({ code: 'unavailable' })
    await vi.waitUntil(() => onError.mock.calls.length > 0, waiting)
    expect(recorder.alive).toBe(0)
    expect(first.getSnapshot().error).toMatchObject({ name: 'LeaseLostError', reason: 'closed' })
    second.start()
    await vi.waitUntil(() => recorder.alive === 1, waiting)
    second.stop()
    await own.close()
  })

  it('stopped while the grant is on its way from the thread: it is released', async (test) => {
    const claims = seeGrantsInThreads()
    test.onTestFinished(() => void vi.restoreAllMocks())
    const a = createRival('crossing', 'a', {}, await claims.open(thread))
    claims.atGrant(0, () => a.actor.stop())
    a.actor.start()
    await vi.waitUntil(() => a.actor.getSnapshot().status === 'stopped', waiting)
    await vi.waitUntil(async () => (await a.lease.holder()) === undefined, waiting)
    expect(a.recorder.started).toBe(0)
  })

  it('stopped during an attempt: nothing is held', async () => {
    const a = createRival('stopped', 'a')
    a.actor.start()
    a.actor.stop()
    const other = createRival('stopped', 'other')
    other.actor.start()
    await untilActive(other)
    expect(a.lease.checkLease()).toBe(false)
    expect(a.recorder.started).toBe(0)
    other.actor.stop()
  })
})
