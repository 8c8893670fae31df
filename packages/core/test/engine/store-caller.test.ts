import { LeaseConfigurationError, type LeaseStore, LeaseUnavailableError, type MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import type { AnswerEvent } from '../../src/engine/engine-event.js'
import { Instant } from '../../src/engine/instant.js'
import { StoreCaller } from '../../src/engine/store-caller.js'
import { StoreContext } from '../../src/engine/store-context.js'
import { rules } from '../support/rules.js'
import { recordOf, ScriptedStore } from '../support/scripted-store.js'
import { grant } from '../support/transitions.js'

const to = { grantId: 'theirs', owner: 'you' }
const claim = { method: 'acquire', grantId: 'mine', queue: true } as const

function setUp<T extends LeaseStore>(store: T) {
  const clock = new VirtualClock()
  const context = new StoreContext(store, clock)
  const told: AnswerEvent[] = []
  const caller = new StoreCaller(rules, store, context, (answer) => told.push(answer))
  const instant = new Instant({ clock, random: () => 0 })
  return { clock, context, store, told, caller, instant }
}

describe('a call to the store', () => {
  it.each([
    [claim, { granted: false }, { type: 'acquire-answer', op: 7, outcome: { granted: false } }],
    [
      { method: 'change', grant, to },
      { granted: false },
      { type: 'acquire-answer', op: 7, outcome: { granted: false } },
    ],
    [{ method: 'read' }, recordOf(), { type: 'read-answer', op: 7, record: recordOf() }],
    [{ method: 'renew', grant }, { renewed: true }, { type: 'renew-answer', op: 7, outcome: { renewed: true } }],
    [{ method: 'release', grant }, { released: true }, { type: 'release-answer', op: 7, outcome: { released: true } }],
  ] as const)('is answered under its number: %#', async (call, outcome, answer) => {
    const { clock, store, told, caller, instant } = setUp(new ScriptedStore())
    expect(caller.call(7, call, undefined, instant)).toBeUndefined()
    store.last(call.method).answer(outcome)
    await clock.settle()
    expect(told).toEqual([answer])
  })

  it.each([
    claim,
    { method: 'change', grant, to },
    { method: 'read' },
    { method: 'renew', grant },
    { method: 'release', grant },
  ] as const)('fails under its number, with its name: $method', async (call) => {
    const { clock, store, told, caller, instant } = setUp(new ScriptedStore())
    caller.call(7, call, undefined, instant)
    store.last(call.method).fail(new Error('reset'))
    await clock.settle()
    expect(told).toEqual([{ type: 'failure', op: 7, error: expect.any(LeaseUnavailableError), definitive: false }])
    expect(String(told[0]?.type === 'failure' && told[0].error)).toContain(
      `${call.method} of lease 'job' failed: reset`,
    )
  })

  it('says where a failure is definitive', async () => {
    const { clock, store, told, caller, instant } = setUp(new ScriptedStore())
    const error = new LeaseConfigurationError('no')
    caller.call(7, claim, undefined, instant)
    store.last('acquire').fail(error)
    await clock.settle()
    expect(told).toEqual([{ type: 'failure', op: 7, error, definitive: true }])
  })

  it('passes on what is asked for, and metadata where there is any', () => {
    const { store, caller, instant } = setUp(new ScriptedStore())
    const acquire = vi.spyOn(store, 'acquire')
    const request = { name: 'job', owner: 'me', grantId: 'mine', ttl: rules.ttl, queue: true }
    caller.call(1, claim, undefined, instant)
    caller.call(2, claim, { version: '7' }, instant)
    expect(acquire.mock.calls.map(([asked]) => asked)).toEqual([request, { ...request, metadata: { version: '7' } }])
    expect(acquire.mock.calls[0]?.[0]).not.toHaveProperty('metadata')
  })

  it('asks for the record and for the hand-off by name', () => {
    const { store, caller, instant } = setUp(new ScriptedStore())
    const [read, change] = [vi.spyOn(store, 'read'), vi.spyOn(store, 'change')]
    caller.call(1, { method: 'read' }, undefined, instant)
    caller.call(2, { method: 'change', grant, to }, undefined, instant)
    expect(read).toHaveBeenCalledWith('job', expect.any(AbortSignal))
    expect(change).toHaveBeenCalledWith(grant, to, expect.any(AbortSignal))
  })

  it('of a store that throws, or has no change, fails in a microtask', async () => {
    const { store, told, caller, instant } = setUp(new ScriptedStore())
    Object.assign(store, { change: undefined })
    caller.call(7, { method: 'change', grant, to }, undefined, instant)
    expect(told).toEqual([])
    await Promise.resolve()
    expect(told).toMatchObject([
      { type: 'failure', op: 7, error: { message: "change of lease 'job' failed: the store has no change" } },
    ])
  })
})

describe('the signal of a call', () => {
  it('is aborted when the call is ended, once, and never serves again', async () => {
    const { clock, context, store, told, caller, instant } = setUp(new ScriptedStore())
    caller.abort()
    caller.call(7, claim, undefined, instant)
    const { signal, answer } = store.last('acquire')
    expect(signal.aborted).toBe(false)
    caller.abort()
    caller.abort()
    expect(signal.aborted).toBe(true)
    answer({ granted: false })
    await clock.settle()
    // Its late answer is told all the same, for what it granted has to be taken back.
    expect(told.length).toBe(1)
    expect(context.signals.take().signal).not.toBe(signal)
  })

  it('serves again when the call was answered, and is then not ended by who had it before', async () => {
    const { clock, context, store, caller, instant } = setUp(new ScriptedStore())
    caller.call(7, claim, undefined, instant)
    store.last('acquire').answer({ granted: false })
    await clock.settle()
    caller.abort()
    const { signal } = context.signals.take()
    expect(signal).toBe(store.last('acquire').signal)
    expect(signal.aborted).toBe(false)
  })

  it('is that of the call under way, though the answer of an earlier one comes late', async () => {
    const { clock, store, caller, instant } = setUp(new ScriptedStore())
    caller.call(7, claim, undefined, instant)
    const first = store.last('acquire')
    caller.abort()
    caller.call(8, claim, undefined, instant)
    first.answer({ granted: false })
    await clock.settle()
    caller.abort()
    expect(store.last('acquire').signal.aborted).toBe(true)
  })
})

describe('a call to a store without I/O', () => {
  function setUpImmediate() {
    const own = new VirtualClock()
    const acquire = vi.fn(() => ({ granted: false }))
    const release = vi.fn(() => ({ released: true }))
    const immediate = { clock: own, acquire, release } as unknown as MemoryLeaseStore['immediate']
    const fixture = setUp(Object.assign(new ScriptedStore(), { immediate }))
    return { ...fixture, own, acquire, release }
  }

  it('is answered at once', () => {
    const { store, caller, instant, release, told } = setUpImmediate()
    expect(caller.call(7, claim, undefined, instant)).toEqual({
      type: 'acquire-answer',
      op: 7,
      outcome: { granted: false },
    })
    expect(caller.call(8, { method: 'release', grant }, undefined, instant)).toEqual({
      type: 'release-answer',
      op: 8,
      outcome: { released: true },
    })
    expect(release).toHaveBeenCalledWith(grant)
    expect(store.calls).toEqual([])
    expect(told).toEqual([])
  })

  it('is of the instant of its own clock', () => {
    const { clock, own, caller, instant, acquire } = setUpImmediate()
    clock.block(3)
    own.block(40)
    caller.call(7, claim, { version: '7' }, instant)
    caller.call(8, claim, undefined, new Instant({ clock: own, random: () => 0 }))
    const request = { name: 'job', owner: 'me', grantId: 'mine', ttl: rules.ttl, queue: true }
    expect(acquire.mock.calls).toEqual([
      [{ ...request, metadata: { version: '7' } }, 40],
      [request, 40],
    ])
  })

  it('reads no clock twice where both share it', () => {
    const { own, caller, acquire } = setUpImmediate()
    const now = vi.spyOn(own, 'now')
    const instant = new Instant({ clock: own, random: () => 0 })
    expect(instant.now).toBe(0)
    caller.call(7, claim, undefined, instant)
    expect(now).toHaveBeenCalledOnce()
    expect(acquire).toHaveBeenCalledOnce()
  })

  it('fails at once, too', () => {
    const { caller, instant, acquire, release } = setUpImmediate()
    const error = new LeaseConfigurationError('no')
    for (const call of [acquire, release]) {
      call.mockImplementation(() => {
        throw error
      })
    }
    const failure = { type: 'failure', op: 7, error, definitive: true }
    expect(caller.call(7, claim, undefined, instant)).toEqual(failure)
    expect(caller.call(7, { method: 'release', grant }, undefined, instant)).toEqual(failure)
  })

  it.each([{ method: 'read' }, { method: 'renew', grant }, { method: 'change', grant, to }] as const)(
    'is answered later where it is none of the two: $method',
    (call) => {
      const { store, caller, instant } = setUpImmediate()
      expect(caller.call(7, call, undefined, instant)).toBeUndefined()
      expect(store.calls.length).toBe(1)
    },
  )
})
