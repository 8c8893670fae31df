import { AsyncLocalStorage } from 'node:async_hooks'
import { MemoryLeaseStore } from '@leasehold/core'
import { createLockManager, type Lock, type LockOptions } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

// The steps of https://w3c.github.io/web-locks/, section 4. Each step is checked in one process, and, where it speaks of other
// agents, in two.

const unreachable = () => expect.unreachable('the callback was called')

/** Lock managers over one store, in virtual time. */
function createPlace() {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const options = { clock, logger: silentLogger, heartbeatTimeout: 10_000 }
  const open = (owner: string) => createLockManager(store, { ...options, owner })
  return { clock, store, open, locks: open('anna'), other: open('berta') }
}

type Locks = ReturnType<typeof createPlace>['locks']

/** A request whose callback ends when it is told to. */
function hold(locks: Locks, name: string, options: LockOptions = {}) {
  let end = (_: unknown): void => {}
  const ended = new Promise((resolve) => (end = resolve))
  const seen: { lock?: Lock | null; isGranted: boolean } = { isGranted: false }
  const result = locks.request(name, options, async (lock) => {
    seen.lock = lock
    seen.isGranted = true
    return await ended
  })
  const outcome = result.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  return Object.assign(seen, { end, result, outcome })
}

const reasonOf = (promise: Promise<unknown>): Promise<unknown> => promise.then(unreachable, (error: unknown) => error)

async function expectNotSupported(promise: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await reasonOf(promise)
  expect(error).toBeInstanceOf(DOMException)
  expect(error).toMatchObject({ name: 'NotSupportedError', message: expect.stringMatching(message) })
}

describe('request(name, options, callback)', () => {
  const signal = new AbortController().signal
  const aborted = AbortSignal.abort(new Error('too late'))

  it('conversion of the arguments: too few, or of a wrong type, is a rejection with a TypeError', async () => {
    const { locks } = createPlace()
    const request = locks.request.bind(locks) as (...given: unknown[]) => Promise<unknown>
    const noOptions = [5, 'exclusive', true]
    const noCallbacks = [undefined, null, 5, {}, 'work']
    const wrong: unknown[][] = [
      [],
      ['a'],
      [Symbol('a'), unreachable],
      ...noOptions.map((options) => ['a', options, unreachable]),
      ...noCallbacks.flatMap((callback) => [
        ['a', callback],
        ['a', {}, callback],
      ]),
      ['a', { mode: 'foo' }, unreachable],
      ['a', { mode: null }, unreachable],
      ['a', { signal: 'a signal' }, unreachable],
      ['a', { signal: null }, unreachable],
    ]
    for (const given of wrong) expect(await reasonOf(request(...given)), String(given[1])).toBeInstanceOf(TypeError)
  })

  it('conversion of the arguments: the name becomes a text, and options may be null', async () => {
    const { clock, locks } = createPlace()
    const request = locks.request.bind(locks) as (...given: unknown[]) => Promise<unknown>
    const names = Promise.all([
      request(5, (lock: Lock) => lock.name),
      request('a', null, (lock: Lock) => lock.name),
      request(null, undefined, (lock: Lock) => lock.name),
      request('', { mode: undefined }, (lock: Lock) => lock.name),
    ])
    await clock.time.advance(1_000)
    expect(await names).toEqual(['5', 'a', 'null', ''])
  })

  it('step 1: without options, they have their default values', async () => {
    const { clock, locks } = createPlace()
    const mode = locks.request('a', (lock) => lock.mode)
    await clock.time.advance(1_000)
    expect(await mode).toBe('exclusive')
  })

  it('step 3: of a manager that is not active any more, every request is rejected', async () => {
    const { locks } = createPlace()
    await locks.stop()
    expect(await reasonOf(locks.request('-a', unreachable))).toBe(locks.closed.reason)
  })

  it('step 5: a name that begins with - is a NotSupportedError', async () => {
    const { locks } = createPlace()
    await expectNotSupported(locks.request('-', unreachable), /must not begin with '-'/)
    await expectNotSupported(locks.request('-a', { steal: true, ifAvailable: true }, unreachable), /begin with/)
  })

  it('step 6: steal with ifAvailable is a NotSupportedError', async () => {
    const { locks } = createPlace()
    const options = { steal: true, ifAvailable: true, mode: 'shared', signal: aborted } as const
    await expectNotSupported(locks.request('a', options, unreachable), /exclude each other/)
  })

  it('step 7: steal with another mode than exclusive is a NotSupportedError', async () => {
    const { locks } = createPlace()
    const options = { steal: true, mode: 'shared', signal: aborted } as const
    await expectNotSupported(locks.request('a', options, unreachable), /needs the mode 'exclusive'/)
  })

  it.each(['steal', 'ifAvailable'] as const)('step 8: a signal with %s is a NotSupportedError', async (option) => {
    const { locks } = createPlace()
    for (const given of [signal, aborted]) {
      await expectNotSupported(
        locks.request('a', { signal: given, [option]: true }, unreachable),
        /leave out the signal/,
      )
    }
  })

  it('step 9: a signal that is aborted rejects with its reason', async () => {
    const { locks } = createPlace()
    expect(await reasonOf(locks.request('a', { signal: aborted }, unreachable))).toBe(aborted.reason)
    const usual = await reasonOf(locks.request('a', { signal: AbortSignal.abort() }, unreachable))
    expect(usual).toMatchObject({ name: 'AbortError' })
  })

  it('step 12: returns a promise, and no argument makes it throw', async () => {
    const { locks } = createPlace()
    const thrown = (locks.request as () => unknown).call(locks)
    expect(thrown).toBeInstanceOf(Promise)
    await expect(thrown).rejects.toThrow(TypeError)
  })
})

describe('request a lock', () => {
  it('step 2: when the signal aborts, the request that waits rejects with its reason, and leaves the queue', async () => {
    const { clock, locks, other } = createPlace()
    const first = hold(other, 'a')
    await clock.time.advance(1_000)
    const controller = new AbortController()
    const waiting = hold(locks, 'a', { signal: controller.signal })
    const next = hold(locks, 'a')
    await clock.time.advance(1_000)
    controller.abort('changed my mind')
    expect(await waiting.outcome).toEqual({ error: 'changed my mind' })
    expect((await locks.query()).pending).toEqual([{ name: 'a', mode: 'exclusive', clientId: 'anna' }])
    first.end(1)
    await clock.time.advance(20_000)
    expect([waiting.isGranted, next.isGranted]).toEqual([false, true])
  })

  it('step 3.4.1: with steal, the held locks of the name end: their promises reject with an AbortError', async () => {
    const { clock, locks, other } = createPlace()
    const holds = [hold(locks, 'a', { mode: 'shared' }), hold(locks, 'a', { mode: 'shared' }), hold(locks, 'b')]
    const remote = hold(other, 'a', { mode: 'shared' })
    await clock.time.advance(1_000)
    expect(holds.every(({ isGranted }) => isGranted) && remote.isGranted).toBe(true)
    const thief = hold(locks, 'a', { steal: true })
    await clock.time.advance(10_000)
    expect(thief.isGranted).toBe(true)
    for (const { outcome, lock } of [...holds.slice(0, 2), remote]) {
      expect(await outcome).toEqual({ error: expect.any(DOMException) })
      expect(await outcome).toMatchObject({
        error: { name: 'AbortError', message: expect.stringContaining('stolen by') },
      })
      expect([lock?.signal.aborted, lock?.checkLease()]).toEqual([true, false])
      expect(lock?.signal.reason).toBe(((await outcome) as { error: unknown }).error)
    }
    expect([holds[2]?.lock?.checkLease(), thief.lock?.checkLease()]).toEqual([true, true])
  })

  it('step 3.4.1: an exclusive lock of this process, or of another, is stolen under a larger token', async () => {
    const { clock, locks, other } = createPlace()
    const tokens: bigint[] = []
    let last = hold(other, 'a')
    await clock.time.advance(1_000)
    for (const thief of [locks, locks, other]) {
      tokens.push(last.lock?.fencingToken ?? 0n)
      const stealing = hold(thief, 'a', { steal: true })
      await clock.time.advance(10_000)
      expect(await last.outcome).toMatchObject({ error: { name: 'AbortError' } })
      expect(stealing.lock?.checkLease()).toBe(true)
      last = stealing
    }
    tokens.push(last.lock?.fencingToken ?? 0n)
    expect(tokens).toEqual([...tokens].sort((a, b) => Number(a - b)))
    expect(new Set(tokens).size).toBe(4)
  })

  it('step 3.4.2: with steal, the request is before all others, also those of other processes, which still wait', async () => {
    const { clock, locks, other, open } = createPlace()
    const first = hold(other, 'a')
    await clock.time.advance(1_000)
    const waiting = [hold(locks, 'a'), hold(open('clara'), 'a'), hold(other, 'a'), hold(locks, 'a', { mode: 'shared' })]
    await clock.time.advance(1_000)
    const thief = hold(locks, 'a', { steal: true })
    await clock.time.advance(10_000)
    expect(await first.outcome).toMatchObject({ error: { name: 'AbortError' } })
    expect([thief.isGranted, ...waiting.map(({ isGranted }) => isGranted)]).toEqual([true, false, false, false, false])
    thief.end('stolen goods')
    for (const { end } of waiting) end('waited')
    await clock.time.advance(60_000)
    expect(await thief.outcome).toEqual({ value: 'stolen goods' })
    for (const { outcome } of waiting) expect(await outcome).toEqual({ value: 'waited' })
  })

  it('step 3.5.1: with ifAvailable, a request that cannot be granted now calls its callback with null', async () => {
    const { clock, locks, other } = createPlace()
    const held = hold(locks, 'a', { mode: 'shared' })
    await clock.time.advance(1_000)
    const asked = [
      locks.request('a', { ifAvailable: true }, (lock) => [lock]),
      other.request('a', { ifAvailable: true }, (lock) => [lock]),
    ]
    await clock.time.advance(1_000)
    expect(await Promise.all(asked)).toEqual([[null], [null]])
    // A request that waits is not overtaken.
    hold(other, 'a')
    await clock.time.advance(1_000)
    const behind = [locks, other].map((one) =>
      one.request('a', { ifAvailable: true, mode: 'shared' }, (lock) => [lock]),
    )
    await clock.time.advance(1_000)
    expect(await Promise.all(behind)).toEqual([[null], [null]])
    held.end(1)
  })

  it('step 3.5.1: with ifAvailable, an error of the callback rejects, and a lock that is available is granted', async () => {
    const { clock, locks } = createPlace()
    hold(locks, 'a')
    await clock.time.advance(1_000)
    const failed = locks.request('a', { ifAvailable: true }, () => {
      throw new Error('no lock')
    })
    await expect(failed).rejects.toThrow('no lock')
    const granted = locks.request('b', { ifAvailable: true }, (lock) => lock?.mode)
    await clock.time.advance(1_000)
    expect(await granted).toBe('exclusive')
  })

  it('step 3.5.2 and 3.6: the queue of a name is processed in its order', async () => {
    const { clock, locks } = createPlace()
    const order: number[] = []
    const modes = ['exclusive', 'shared', 'exclusive', 'shared', 'shared', 'exclusive'] as const
    const all = modes.map((mode, place) => locks.request('a', { mode }, async () => void order.push(place)))
    await clock.time.advance(60_000)
    await Promise.all(all)
    expect(order).toEqual([0, 1, 2, 3, 4, 5])
  })
})

describe('a request is grantable', () => {
  it('step 7: only if it is the first of the queue: a shared one waits behind an exclusive one', async () => {
    const { clock, locks, other } = createPlace()
    const reader = hold(locks, 'a', { mode: 'shared' })
    await clock.time.advance(1_000)
    const writer = hold(other, 'a')
    await clock.time.advance(1_000)
    const late = [hold(locks, 'a', { mode: 'shared' }), hold(other, 'a', { mode: 'shared' })]
    await clock.time.advance(1_000)
    expect([writer, ...late].map(({ isGranted }) => isGranted)).toEqual([false, false, false])
    reader.end(1)
    await clock.time.advance(10_000)
    expect([writer, ...late].map(({ isGranted }) => isGranted)).toEqual([true, false, false])
    writer.end(1)
    await clock.time.advance(10_000)
    expect(late.map(({ isGranted }) => isGranted)).toEqual([true, true])
  })

  it.each([0, 1])('step 8: an exclusive one, if no lock of the name is held (process %i)', async (place) => {
    for (const mode of ['exclusive', 'shared'] as const) {
      const { clock, locks, other } = createPlace()
      const held = hold(locks, 'a', { mode })
      await clock.time.advance(1_000)
      const asking = hold([locks, other][place] as Locks, 'a')
      const elsewhere = hold(other, 'b')
      await clock.time.advance(30_000)
      expect([asking.isGranted, elsewhere.isGranted]).toEqual([false, true])
      held.end(1)
      await clock.time.advance(10_000)
      expect(asking.isGranted).toBe(true)
    }
  })

  it('step 9: a shared one, if no exclusive lock of the name is held', async () => {
    const { clock, locks, other } = createPlace()
    const writer = hold(other, 'a')
    await clock.time.advance(1_000)
    const readers = [locks, locks, other].map((one) => hold(one, 'a', { mode: 'shared' }))
    await clock.time.advance(30_000)
    expect(readers.map(({ isGranted }) => isGranted)).toEqual([false, false, false])
    writer.end(1)
    await clock.time.advance(10_000)
    expect(readers.map(({ isGranted }) => isGranted)).toEqual([true, true, true])
  })
})

describe('process the lock request queue', () => {
  it('step 2.8.1: an abort after the grant changes nothing', async () => {
    const { clock, locks } = createPlace()
    const controller = new AbortController()
    const held = hold(locks, 'a', { signal: controller.signal })
    await clock.time.advance(1_000)
    controller.abort()
    await clock.time.advance(1_000)
    expect([held.lock?.signal.aborted, held.lock?.checkLease()]).toEqual([false, true])
    held.end('done')
    await clock.time.advance(1_000)
    expect(await held.outcome).toEqual({ value: 'done' })
  })

  it('step 2.8.1: an abort while the grant is on its way releases the lock, and the callback is not called', async () => {
    const { clock, locks, other } = createPlace()
    const controller = new AbortController()
    const requested = locks.request('a', { signal: controller.signal }, unreachable)
    controller.abort(new Error('no time'))
    await expect(requested).rejects.toThrow('no time')
    const next = hold(other, 'a')
    await clock.time.advance(1_000)
    expect(next.isGranted).toBe(true)
  })

  it('step 2.8.2: the callback gets a lock with the name and the mode, in the context of its caller', async () => {
    const { clock, locks } = createPlace()
    const context = new AsyncLocalStorage<string>()
    const contexts: unknown[] = []
    const held = hold(locks, 'a')
    await clock.time.advance(1_000)
    const second = context.run('second', () =>
      locks.request('a', { mode: 'shared' }, (lock) => {
        contexts.push(context.getStore())
        return [lock.name, lock.mode]
      }),
    )
    context.run('first', () => held.end(1))
    await clock.time.advance(1_000)
    expect(await second).toEqual(['a', 'shared'])
    expect(contexts).toEqual(['second'])
  })

  it('step 2.8.3: the promise of the request settles as that of the callback, when the lock was released', async () => {
    const { clock, locks } = createPlace()
    const failure = new Error('the work failed')
    const settled = Promise.allSettled([
      locks.request('a', () => 5),
      locks.request('a', async () => 'text'),
      locks.request('a', () => {
        throw failure
      }),
      locks.request('a', async () => Promise.reject(failure)),
    ])
    const after = locks.request('b', () => 1).then(() => locks.query())
    await clock.time.advance(10_000)
    expect(await settled).toEqual([
      { status: 'fulfilled', value: 5 },
      { status: 'fulfilled', value: 'text' },
      { status: 'rejected', reason: failure },
      { status: 'rejected', reason: failure },
    ])
    expect((await after).held.filter(({ name }) => name === 'b')).toEqual([])
  })

  it('a lock is held until the promise of its callback settles', async () => {
    const { clock, locks, other } = createPlace()
    const held = hold(locks, 'a')
    const next = hold(other, 'a')
    await clock.time.advance(600_000)
    expect([held.lock?.checkLease(), next.isGranted]).toEqual([true, false])
    held.end('done')
    await clock.time.advance(1_000)
    expect([held.lock?.checkLease(), next.isGranted]).toEqual([false, true])
  })
})

describe('query()', () => {
  it('snapshots the locks that are held and the requests that wait, of all machines', async () => {
    const { clock, locks, other } = createPlace()
    expect(await locks.query()).toEqual({ held: [], pending: [] })
    hold(locks, 'a')
    hold(other, 'order/42', { mode: 'shared' })
    hold(other, '50%/7', { mode: 'shared' })
    hold(other, '50%/7', { mode: 'shared' })
    await clock.time.advance(1_000)
    hold(locks, 'a', { mode: 'shared' })
    hold(other, 'a')
    hold(locks, 'order/42')
    await clock.time.advance(1_000)
    const mine = { clientId: 'anna' }
    const others = { clientId: 'berta' }
    const seenBy = async (one: Locks) => {
      const { held, pending } = await one.query()
      const inOrder = (infos: typeof held) => infos.map((info) => `${info.clientId} ${info.name} ${info.mode}`).sort()
      return { held: inOrder(held), pending: inOrder(pending) }
    }
    const pending = ['anna a shared', 'anna order/42 exclusive']
    expect(await seenBy(locks)).toEqual({
      held: ['anna a exclusive', 'berta 50%/7 shared', 'berta order/42 shared'],
      pending,
    })
    expect(await seenBy(other)).toEqual({
      held: ['anna a exclusive', 'berta 50%/7 shared', 'berta 50%/7 shared', 'berta order/42 shared'],
      // The one that waits for the end of shared locks, and its own.
      pending: ['anna order/42 exclusive', 'berta a exclusive'],
    })
    expect((await locks.query()).held).toContainEqual({ name: 'a', mode: 'exclusive', ...mine })
    expect((await locks.query()).held).toContainEqual({ name: 'order/42', mode: 'shared', ...others })
  })

  it('has the requests of this process in their order, and those that were granted no longer', async () => {
    const { clock, locks } = createPlace()
    const first = hold(locks, 'a')
    hold(locks, 'a', { mode: 'shared' })
    hold(locks, 'a')
    await clock.time.advance(1_000)
    const modes = async () => (await locks.query()).pending.map(({ mode }) => mode)
    expect(await modes()).toEqual(['shared', 'exclusive'])
    first.end(1)
    await clock.time.advance(1_000)
    expect(await modes()).toEqual(['exclusive'])
  })
})
