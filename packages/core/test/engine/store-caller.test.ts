import { LeaseConfigurationError, type LeaseStore, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { Admission } from '../../src/engine/admission.js'
import type { AnswerEvent } from '../../src/engine/engine-event.js'
import { StoreCaller } from '../../src/engine/store-caller.js'
import { rules } from '../support/rules.js'
import { recordOf, ScriptedStore } from '../support/scripted-store.js'
import { grant } from '../support/transitions.js'

const to = { grantId: 'theirs', owner: 'you' }
const claim = { method: 'acquire', grantId: 'mine', queue: true } as const

function setUp<T extends LeaseStore>(store: T) {
  const clock = new VirtualClock()
  const answers: AnswerEvent[] = []
  const onAnswer = (answer: AnswerEvent): unknown => answers.push(answer)
  const claims = new Admission(clock)
  const caller = new StoreCaller({ rules, group: { claims }, onAnswer }, store)
  return { clock, store, answers, caller, claims }
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
    [
      { method: 'update', grant, metadata: { at: '7' } },
      { renewed: true },
      { type: 'renew-answer', op: 7, outcome: { renewed: true } },
    ],
    [
      { method: 'release', grant, metadata: undefined },
      { released: true },
      { type: 'release-answer', op: 7, outcome: { released: true } },
    ],
  ] as const)('is answered under its number: %#', async (call, outcome, answer) => {
    const { clock, store, answers, caller } = setUp(new ScriptedStore())
    caller.call(7, call, 500, {})
    store.last(call.method).answer(outcome)
    await clock.settle()
    expect(answers).toEqual([answer])
  })

  it.each([
    claim,
    { method: 'change', grant, to },
    { method: 'read' },
    { method: 'renew', grant },
    { method: 'release', grant, metadata: undefined },
  ] as const)('fails under its number, with its name: $method', async (call) => {
    const { clock, store, answers, caller } = setUp(new ScriptedStore())
    caller.call(7, call, 500, {})
    store.last(call.method).fail(new Error('reset'))
    await clock.settle()
    expect(answers).toEqual([{ type: 'failure', op: 7, error: expect.any(LeaseUnavailableError), definitive: false }])
    expect(String(answers[0]?.type === 'failure' && answers[0].error)).toContain(
      `${call.method} of lease 'job' failed: reset`,
    )
  })

  it('reports whether a failure is definitive', async () => {
    const { clock, store, answers, caller } = setUp(new ScriptedStore())
    const error = new LeaseConfigurationError('no')
    caller.call(7, claim, 500, {})
    store.last('acquire').fail(error)
    await clock.settle()
    expect(answers).toEqual([{ type: 'failure', op: 7, error, definitive: true }])
  })

  it('passes on the request, with metadata if there is any', () => {
    const { store, caller } = setUp(new ScriptedStore())
    const acquire = vi.spyOn(store, 'acquire')
    const request = { name: 'job', owner: 'me', grantId: 'mine', ttl: rules.ttl, queue: true }
    caller.call(1, claim, 500, {})
    const options = { metadata: { version: '7' }, ifMatch: 'etag' }
    caller.call(2, claim, 500, { wait: 5, onLost: () => {}, ...options })
    expect(acquire.mock.calls.map(([asked]) => asked)).toEqual([request, { ...request, ...options }])
    expect(acquire.mock.calls[0]?.[0]).not.toHaveProperty('metadata')
  })

  it('reads the record and changes the grant by name', () => {
    const { store, caller } = setUp(new ScriptedStore())
    const [read, change] = [vi.spyOn(store, 'read'), vi.spyOn(store, 'change')]
    caller.call(1, { method: 'read' }, 500, {})
    caller.call(2, { method: 'change', grant, to }, 500, {})
    expect(read).toHaveBeenCalledWith('job', expect.any(AbortableCall))
    expect(change).toHaveBeenCalledWith(grant, to, expect.any(AbortableCall))
  })

  it('fails in a microtask if the store throws, or has no change', async () => {
    const { store, answers, caller } = setUp(new ScriptedStore())
    Object.assign(store, { change: undefined })
    caller.call(7, { method: 'change', grant, to }, 500, {})
    expect(answers).toEqual([])
    await Promise.resolve()
    expect(answers).toMatchObject([
      { type: 'failure', op: 7, error: { message: "change of lease 'job' failed: the store has no change" } },
    ])
  })

  it('reports one answer if the store returns a thenable that settles twice', async () => {
    const { clock, store, answers, caller } = setUp(new ScriptedStore())
    const then = (resolve: (outcome: unknown) => void, reject: (error: unknown) => void): void => {
      resolve({ granted: false })
      reject(new Error('twice'))
      resolve({ granted: false })
    }
    Object.assign(store, { acquire: () => ({ then }) })
    caller.call(7, claim, 500, {})
    await clock.settle()
    expect(answers).toEqual([{ type: 'acquire-answer', op: 7, outcome: { granted: false } }])
  })
})

describe('the call object of a store', () => {
  it('is aborted once when it ends, and its late answer is reported', async () => {
    const { clock, store, answers, caller } = setUp(new ScriptedStore())
    caller.abort()
    caller.call(7, claim, 500, {})
    const { call, answer } = store.last('acquire')
    expect([call.aborted, call.timeout]).toEqual([false, 500])
    caller.abort()
    caller.abort()
    expect(call.aborted).toBe(true)
    answer({ granted: false })
    await clock.settle()
    // The engine has to release a late grant.
    expect(answers.length).toBe(1)
  })

  it('is new for every operation, and is not aborted after the answer', async () => {
    const { clock, store, caller } = setUp(new ScriptedStore())
    caller.call(7, claim, 500, {})
    const first = store.last('acquire')
    first.answer({ granted: false })
    await clock.settle()
    caller.abort()
    caller.call(8, claim, 500, {})
    expect(first.call.aborted).toBe(false)
    expect(store.last('acquire').call).not.toBe(first.call)
  })

  it('is aborted, although a late answer of an earlier call arrives', async () => {
    const { clock, store, caller } = setUp(new ScriptedStore())
    caller.call(7, claim, 500, {})
    const first = store.last('acquire')
    caller.abort()
    caller.call(8, claim, 500, {})
    first.answer({ granted: false })
    await clock.settle()
    caller.abort()
    expect(store.last('acquire').call.aborted).toBe(true)
  })

  it('counts as a claim under way until it is answered or given up, and once', async () => {
    const { clock, store, caller, claims } = setUp(new ScriptedStore())
    const end = vi.spyOn(claims, 'end')
    const begin = vi.spyOn(claims, 'begin')
    caller.call(7, { method: 'read' }, 500, {})
    expect(begin).not.toHaveBeenCalled()
    caller.call(8, claim, 500, {})
    store.last('acquire').answer({ granted: false })
    await clock.settle()
    caller.abort()
    expect([begin.mock.calls.length, end.mock.calls]).toEqual([1, [[1]]])
    caller.call(9, claim, 500, {})
    caller.abort()
    store.last('acquire').answer({ granted: false })
    await clock.settle()
    expect([begin.mock.calls.length, end.mock.calls]).toEqual([2, [[1], [1]]])
    // A claim that another call follows, without an answer, does not count for ever.
    caller.call(10, claim, 500, {})
    caller.call(11, claim, 500, {})
    caller.abort()
    expect([begin.mock.calls.length, end.mock.calls.length]).toEqual([4, 4])
  })
})
