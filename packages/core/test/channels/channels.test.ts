import { channel, subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import {
  createLease,
  Lease,
  LeaseSettings,
  MemoryGuard,
  MemoryLeaseStore,
  StoreLease,
  TimeoutSettings,
} from '@leasehold/core'
import type { LeaseChannels, LeaseTracingChannels } from '@leasehold/core/channels'
import { type Fault, FaultyStore, VirtualClock } from '@leasehold/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { logTroubles } from '../readme/channels.js'

const NAMES = ['acquired', 'renewed', 'jeopardy', 'recovered', 'lost', 'released', 'waiting'] as const
const ends: (() => void)[] = []

afterEach(() => {
  for (const end of ends.splice(0)) end()
})

interface Told {
  readonly name: string
  readonly message: Record<string, unknown>
}

/** All messages of these channels about leases of one name. */
function listen(names: readonly string[] = NAMES): Told[] {
  const told: Told[] = []
  for (const name of names) {
    const note = (message: unknown): void => void told.push({ name, message: message as Told['message'] })
    subscribe(`leasehold:${name}`, note)
    ends.push(() => unsubscribe(`leasehold:${name}`, note))
  }
  return told
}

/** The phases of each operation of a tracing channel, with the context at that moment. */
function trace(name: keyof LeaseTracingChannels): Told[] {
  const told: Told[] = []
  const note = (phase: string) => (context: unknown) => {
    told.push({ name: phase, message: { ...(context as Told['message']) } })
  }
  const handlers = {
    start: note('start'),
    end: () => {},
    asyncStart: () => {},
    asyncEnd: note('asyncEnd'),
    error: note('error'),
  }
  tracingChannel(name).subscribe(handlers)
  ends.push(() => void tracingChannel(name).unsubscribe(handlers))
  return told
}

function createPlace(options = {}) {
  const clock = new VirtualClock()
  const state = { isDown: false }
  const plan = (): Fault | undefined => (state.isDown ? { kind: 'fail-before' } : undefined)
  const store = new FaultyStore(new MemoryLeaseStore({ clock }), { clock, plan })
  const times = { heartbeatTimeout: 10_000, heartbeatInterval: 2_500, operationTimeout: 1_000 }
  const lease = createLease(store, 'report', { clock, owner: 'anna', random: () => 0, ...times, ...options })
  return { clock, store, state, lease, common: { leaseName: 'report', owner: 'anna', store: 'memory', lease } }
}

describe('the channels of a lease', () => {
  it('tell of a grant, its heartbeats and its release', async () => {
    const told = listen()
    const { clock, lease, common } = createPlace()
    await lease.acquire({ metadata: { address: 'a' } })
    const { fencingToken } = lease
    await clock.time.advance(4_000)
    await lease.release()
    expect(told.map(({ name }) => name)).toEqual(['acquired', 'renewed', 'released'])
    const [acquired, renewed, released] = told.map(({ message }) => message)
    expect(acquired).toEqual({
      ...common,
      fencingToken,
      grantId: expect.any(String),
      ttl: 10_000,
      metadata: { address: 'a' },
      previous: undefined,
      from: 'free',
      vacancy: undefined,
    })
    expect(renewed).toMatchObject({ ...common, fencingToken, duration: 0, ttl: 10_000 })
    const { remaining, margin } = renewed as unknown as LeaseChannels['leasehold:renewed']
    // The heartbeat came after 2.5 s, or a little earlier.
    expect(remaining).toBeGreaterThanOrEqual(7_000)
    expect(remaining).toBeLessThan(8_500)
    expect(margin).toBe(remaining / 10_000)
    expect(released).toEqual({ ...common, fencingToken, end: 'released', held: 4_000 })
  })

  it('tell of a jeopardy, its end, and a loss', async () => {
    const told = listen(['jeopardy', 'recovered', 'lost'])
    const { clock, store, state, lease, common } = createPlace()
    await lease.acquire()
    const { fencingToken } = lease
    store.inject({ kind: 'fail-before' })
    await clock.time.advance(7_000)
    expect(told.map(({ name }) => name)).toEqual(['jeopardy', 'recovered'])
    expect(told[0]?.message).toMatchObject({ ...common, fencingToken, cause: expect.any(Error) })
    expect(told[0]?.message.remaining).toBeLessThan(8_500)
    expect(told[1]?.message).toMatchObject({ ...common, fencingToken })
    state.isDown = true
    await clock.time.advance(15_000)
    const lost = told.at(-1)
    expect(lost).toMatchObject({ name: 'lost', message: { ...common, fencingToken, reason: 'expired' } })
    expect(lost?.message.lost).toMatchObject({ reason: 'expired' })
    expect(lost?.message.held).toBeGreaterThan(10_000)
  })

  it('tell of a hand-off', async () => {
    const told = listen(['released', 'acquired'])
    const { lease, clock, store } = createPlace()
    await lease.acquire()
    const handOff = await lease.handOff()
    const next = createLease(store, 'report', { clock, owner: 'anna', heartbeatTimeout: 10_000 })
    await next.adopt(handOff)
    expect(told.map(({ name, message: { end } }) => [name, end])).toEqual([
      ['acquired', undefined],
      ['released', 'handed-off'],
      ['acquired', undefined],
    ])
    expect(told[2]?.message.lease).toBe(next)
    await next.release()
  })

  it('tell of a caller that waits, until it has its answer', async () => {
    const told = listen(['waiting'])
    const { clock, store, lease } = createPlace()
    const other = createLease(store, 'report', { clock, owner: 'berta', heartbeatTimeout: 10_000 })
    await other.acquire()
    expect(told).toEqual([])
    const waiting = lease.acquire({ wait: 3_000 })
    expect(told.map(({ message }) => message.waiting)).toEqual([true])
    await clock.time.advance(4_000)
    expect(await waiting).toBe(false)
    expect(told.map(({ message }) => message.waiting)).toEqual([true, false])
    await other.release()
  })

  it('say nothing of the time before anyone listened', async () => {
    const { lease } = createPlace()
    await lease.acquire()
    const told = listen(['released'])
    await lease.release()
    expect(told[0]?.message).toMatchObject({ fencingToken: undefined, held: undefined, end: 'released' })
  })

  it('make no message while nobody listens', async () => {
    const { clock, store } = createPlace()
    let messages = 0
    class Watched extends StoreLease {
      // Each message has the name of the lease.
      override get remaining(): number {
        messages += 1
        return super.remaining
      }
    }
    const settings = new LeaseSettings({ name: 'other', timeouts: new TimeoutSettings({ heartbeatTimeout: 10_000 }) })
    const lease = new Watched(settings, store, { clock })
    await lease.acquire()
    store.inject({ kind: 'fail-before' })
    await clock.time.advance(9_000)
    expect(lease.checkLease()).toBe(true)
    expect(messages).toBe(0)
    const told = listen(['recovered'])
    store.inject({ kind: 'fail-before' })
    await clock.time.advance(9_000)
    expect(told.length).toBeGreaterThan(0)
    expect(messages).toBe(told.length)
    await lease.release()
  })

  it('serve the log of the example', async () => {
    const lines: string[] = []
    ends.push(logTroubles((line) => lines.push(line)))
    const { clock, state, lease } = createPlace()
    await lease.acquire()
    state.isDown = true
    await clock.time.advance(15_000)
    expect(lines).toEqual(['report was lost: expired'])
  })
})

describe('the tracing channel of acquire', () => {
  it('has the outcome before the end', async () => {
    const told = trace('leasehold:acquire')
    const { clock, store, state, lease, common } = createPlace()
    await lease.acquire()
    const other = createLease(store, 'report', { clock, owner: 'berta', heartbeatTimeout: 10_000 })
    expect(await other.acquire()).toBe(false)
    const waiting = other.acquire({ wait: 1_000 })
    await clock.time.advance(2_000)
    expect(await waiting).toBe(false)
    const reason = new Error('enough')
    await expect(other.acquire({ wait: 1_000, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    state.isDown = true
    const failing = expect(other.acquire()).rejects.toThrow('connection was lost')
    await clock.time.advance(2_000)
    await failing
    state.isDown = false
    expect(told[0]).toEqual({ name: 'start', message: { ...common, wait: 0 } })
    const outcomes = told.filter(({ name }) => name === 'asyncEnd').map(({ message }) => message.outcome)
    expect(outcomes).toEqual(['granted', 'held', 'timeout', 'cancelled', 'unknown'])
    expect(told[1]?.message.fencingToken).toBe(lease.fencingToken)
    expect(told.filter(({ name }) => name === 'error').map(({ message }) => message.error)[0]).toBe(reason)
    await lease.release()
  })

  it('is silent when the lease is held already', async () => {
    const { lease } = createPlace()
    await lease.acquire()
    const told = trace('leasehold:acquire')
    await lease.acquire()
    expect(told).toEqual([])
    await lease.release()
  })
})

describe('the tracing channel of run', () => {
  it('is around the work', async () => {
    const { AsyncLocalStorage } = await import('node:async_hooks')
    const storage = new AsyncLocalStorage<unknown>()
    const start = channel('tracing:leasehold:run:start')
    start.bindStore(storage, (context) => context)
    ends.push(() => void start.unbindStore(storage))
    const told = trace('leasehold:run')
    const { lease, common } = createPlace()
    const inside = await lease.run(async () => storage.getStore())
    expect(inside).toMatchObject({ leaseName: 'report', outcome: 'done' })
    expect(storage.getStore()).toBeUndefined()
    expect(told[0]).toEqual({ name: 'start', message: { ...common, fencingToken: expect.any(BigInt) } })
    const failure = new Error('failed')
    await expect(lease.run(() => Promise.reject(failure))).rejects.toBe(failure)
    expect(told.at(-1)?.message).toMatchObject({ outcome: 'failed', error: failure })
  })

  it('says that the lease was lost', async () => {
    const told = trace('leasehold:run')
    const { clock, state, lease } = createPlace()
    const running = lease.run(() => new Promise(() => {}))
    running.catch(() => {})
    await clock.time.advance(100)
    state.isDown = true
    await clock.time.advance(15_000)
    await expect(running).rejects.toThrow('was lost')
    expect(told.at(-1)?.message).toMatchObject({ outcome: 'lost' })
  })

  it('leaves the lease of a user alone', async () => {
    class Own extends Lease {
      #held = false
      constructor() {
        super(new LeaseSettings({ name: 'own' }))
      }
      override acquire(): Promise<boolean> {
        this.#held = true
        return Promise.resolve(true)
      }
      override release(): Promise<boolean> {
        this.#held = false
        return Promise.resolve(true)
      }
      override checkLease(): boolean {
        return this.#held
      }
    }
    const told = trace('leasehold:run')
    expect(await new Own().run(async () => 1)).toBe(1)
    expect(told).toEqual([])
  })
})

describe('the tracing channel of the store', () => {
  it('has each call, and what came of it', async () => {
    const told = trace('leasehold:store')
    const { clock, store, lease } = createPlace()
    await lease.acquire()
    const other = createLease(store, 'report', { clock, owner: 'berta', heartbeatTimeout: 10_000 })
    await other.acquire()
    await clock.time.advance(5_000)
    store.inject({ kind: 'fail-before' }, 'release')
    const released = lease.release()
    await clock.time.advance(1_000)
    await released
    const calls = told
      .filter(({ name }) => name === 'asyncEnd')
      .map(({ message: { operation, outcome, leases, leaseName } }) => [operation, outcome, leases, leaseName])
    expect(calls.slice(0, 3)).toEqual([
      ['acquire', 'done', 1, 'report'],
      ['acquire', 'refused', 1, 'report'],
      ['renewMany', 'done', 1, undefined],
    ])
    expect(calls.filter(([operation]) => operation === 'release')).toEqual([
      ['release', 'failed', 1, 'report'],
      ['release', 'done', 1, 'report'],
    ])
  })
})

it('a guard tells of a write with an old token', () => {
  const told = listen(['guard-rejected'])
  const guard = new MemoryGuard()
  guard.write('balance', 5n, 1)
  expect(() => guard.write('balance', 4n, 2)).toThrow('older than 5')
  expect(told.map(({ message }) => message)).toEqual([{ guard: 'memory', resource: 'balance', token: 4n, seen: '5' }])
})

it('a timer that comes late is a stall', async () => {
  const told = listen(['stall'])
  const clock = new VirtualClock()
  const lease = createLease(new MemoryLeaseStore({ clock }), 'report', { clock, heartbeatTimeout: 10_000 })
  await lease.acquire()
  await clock.time.advance(100)
  expect(told).toEqual([])
  clock.block(6_000)
  await clock.time.advance(7_000)
  expect(told[0]?.message.lateness).toBeGreaterThan(20)
  await lease.release()
})

it('a loss is published after its signal was aborted, and onLost was called', async () => {
  const { clock, state, lease } = createPlace()
  const calls: string[] = []
  await lease.acquire({ onLost: () => void calls.push('onLost') })
  const { signal } = lease
  const note = (): void => void calls.push(signal.aborted ? 'published' : 'published too early')
  subscribe('leasehold:lost', note)
  ends.push(() => unsubscribe('leasehold:lost', note))
  state.isDown = true
  await clock.time.advance(15_000)
  expect(calls).toEqual(['onLost', 'published'])
})
