import { LeaseTimeoutError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../../src/engine/engine-event.js'
import type { ReleaseOutcome } from '../../src/store/lease-store.js'
import { recordOf } from '../support/scripted-store.js'
import { after, grant, held, releasing } from '../support/transitions.js'

const reset = new Error('reset')
const to = { grantId: 'theirs', owner: 'you' }
const handedOff = { ...grant, ...to, fencingToken: 4n }
const idle = { phase: 'idle', op: 2 }
const never = Number.POSITIVE_INFINITY
const failed: EngineEvent = { type: 'failure', op: 2, error: reset, definitive: false }
const changing = releasing({ to, call: 'change' })
const reading = releasing({ to, call: 'read' })
const takenBack = { type: 'cleanup', grantId: 'mine', grant, hasStray: false }
const bothTakenBack = [takenBack, { type: 'cleanup', grantId: 'theirs', grant: undefined, hasStray: true }]

function answerOf(outcome: ReleaseOutcome): EngineEvent {
  return { type: 'release-answer', op: 2, outcome }
}

describe('from releasing, a release', () => {
  it.each([
    [{ released: true }, 'gone'],
    [{ released: false }, 'gone'],
    [{ released: false, holder: recordOf() }, 'held'],
  ] as const)('that is answered with %o has ended as %s', (outcome, ended) => {
    expect(after(releasing(), answerOf(outcome), 5)).toEqual({
      state: idle,
      effects: [{ type: 'released', result: { ended } }],
    })
  })

  it('that fails is repeated after growing pauses, within its time limit', () => {
    const repeated = releasing({ call: undefined, retryAt: 340, limitAt: 1_300, failures: 2, failure: reset })
    expect(after(releasing({ failures: 1, limitAt: 1_300 }), failed, 300)).toEqual({ state: repeated, effects: [] })
    const begun = releasing({ limitAt: 350, failures: 9 })
    expect(after(begun, failed, 300).state).toMatchObject({ retryAt: 312.5, limitAt: 350 })
    expect(after(begun, failed, 400).state).toMatchObject({ retryAt: 350 })
  })

  it('is repeated exactly at the end of the pause', () => {
    const state = releasing({ call: undefined, retryAt: 340, limitAt: 1_300, failures: 2, failure: reset })
    expect(after(state, { type: 'tick' }, 339)).toEqual({ state, effects: [] })
    expect(after(state, { type: 'tick' }, 340)).toEqual({
      state: { ...state, op: 3, call: 'release' },
      effects: [{ type: 'call', op: 3, request: { method: 'release', grant } }],
    })
  })

  it('is not repeated again while the repetition is in progress', () => {
    const state = releasing({ op: 3, retryAt: 340, limitAt: 1_300, failures: 2, failure: reset })
    expect(after(state, { type: 'tick' }, 400)).toEqual({ state, effects: [] })
  })

  it('that fails definitively is given up as unknown, and continues in the background', () => {
    expect(after(releasing(), { ...failed, definitive: true }, 300)).toEqual({
      state: idle,
      effects: [takenBack, { type: 'released', result: { ended: 'unknown', error: reset } }],
    })
  })

  it('has a time limit from its first request, which a repetition does not change', () => {
    const waiting = after(held({ op: 1 }), { type: 'release', hasChildren: true }, 20).state
    expect(waiting).toEqual(releasing({ op: 1, call: undefined, hasChildren: true, limitAt: never }))
    expect(after(waiting, { type: 'tick' }, 1e9)).toEqual({ state: waiting, effects: [] })
    const begun = after(waiting, { type: 'children-released', grantId: grant.grantId }, 70).state
    expect(begun).toEqual(releasing({ hasChildren: undefined, limitAt: 1_070 }))
    const paused = after(begun, failed, 90).state
    expect(after(paused, { type: 'tick' }, 500).state).toMatchObject({ call: 'release', limitAt: 1_070 })
  })

  it('is given up exactly at its time limit, and its call is aborted', () => {
    const state = releasing({ limitAt: 1_000 })
    expect(after(state, { type: 'tick' }, 999)).toEqual({ state, effects: [] })
    const error = expect.any(LeaseTimeoutError)
    const result = { ended: 'unknown', error }
    expect(after(state, { type: 'tick' }, 1_000)).toEqual({
      state: idle,
      effects: [{ type: 'abort' }, takenBack, { type: 'released', result }],
    })
    const pausing = releasing({ call: undefined, limitAt: 1_000, retryAt: 1_000, failure: reset })
    expect(after(pausing, { type: 'tick' }, 1_000).effects).toEqual([
      takenBack,
      { type: 'released', result: { ended: 'unknown', error: reset } },
    ])
  })

  it.each([
    [releasing({ limitAt: 1_000 }), "release of lease 'job' did not answer within 1000 ms"],
    [releasing({ limitAt: 1_000, to, call: 'change' }), "hand-off of lease 'job' did not answer within 1000 ms"],
  ])('without an answer is reported with the name of the operation: %#', (state, message) => {
    const [told] = after(state, { type: 'tick' }, 1_000).effects.slice(-1)
    expect(told).toMatchObject({ result: { error: { message: expect.stringContaining(message) } } })
  })
})

describe('from releasing, a hand-off', () => {
  it.each([
    [
      { granted: true, grant: handedOff },
      { ended: 'handed-off', grant: handedOff },
    ],
    [{ granted: false, holder: recordOf() }, { ended: 'held' }],
    [{ granted: false }, { ended: 'held' }],
  ] as const)('that is answered has ended: %#', (outcome, result) => {
    expect(after(changing, { type: 'acquire-answer', op: 2, outcome }, 5)).toEqual({
      state: idle,
      effects: [{ type: 'released', result }],
    })
  })

  it('that fails is settled by reading', () => {
    expect(after(changing, failed, 300)).toEqual({
      state: releasing({ to, call: 'read', op: 3, failures: 1, failure: reset }),
      effects: [{ type: 'call', op: 3, request: { method: 'read' } }],
    })
  })

  it('has taken effect when the record has the grant id of the new grant', () => {
    const record = recordOf({ ...to, fencingToken: 4n })
    expect(after(reading, { type: 'read-answer', op: 2, record }, 5)).toEqual({
      state: idle,
      effects: [{ type: 'released', result: { ended: 'handed-off', grant: handedOff } }],
    })
  })

  it('is repeated after a pause when the record still has our grant id', () => {
    const record = recordOf({ grantId: 'mine' })
    const pausing = releasing({ to, call: undefined, retryAt: 25 })
    expect(after(reading, { type: 'read-answer', op: 2, record }, 5)).toEqual({ state: pausing, effects: [] })
    expect(after(pausing, { type: 'tick' }, 25).effects).toEqual([
      { type: 'call', op: 3, request: { method: 'change', grant, to } },
    ])
  })

  it.each([undefined, recordOf()])('has lost the lease when the record has neither grant id: %#', (record) => {
    expect(after(reading, { type: 'read-answer', op: 2, record }, 5).effects).toEqual([
      { type: 'released', result: { ended: 'held' } },
    ])
  })

  it('is repeated when the read fails', () => {
    expect(after(reading, failed, 300)).toEqual({
      state: releasing({ to, call: undefined, retryAt: 320, failures: 1, failure: reset }),
      effects: [],
    })
  })

  it('that is given up releases both grants', () => {
    expect(after(changing, { ...failed, definitive: true }, 300)).toEqual({
      state: idle,
      effects: [...bothTakenBack, { type: 'released', result: { ended: 'unknown', error: reset } }],
    })
  })
})

describe('from releasing, no change', () => {
  it.each([
    answerOf({ released: true }),
    { type: 'acquire-answer', op: 2, outcome: { granted: false } } as const,
    { type: 'read-answer', op: 2, record: undefined } as const,
    failed,
  ])('by the answer to a call that is not in progress: %#', (event) => {
    for (const state of [releasing({ op: 3 }), releasing({ call: undefined })]) {
      expect(after(state, event, 5)).toEqual({ state, effects: [] })
    }
  })

  it.each(['acquire', 'cancel', 'release', 'turn', 'queue'] as const)('by %s', (type) => {
    expect(after(releasing(), { type, grantId: 'x', queue: false } as EngineEvent, 5)).toEqual({
      state: releasing(),
      effects: [],
    })
  })
})

describe('from releasing, with a stray request', () => {
  const stray = { type: 'cleanup', grantId: 'mine', grant: undefined, hasStray: true }

  it('starts a cleanup when the grant is gone', () => {
    const outcome = { released: true } as const
    expect(after(releasing({ hasStray: true }), { type: 'release-answer', op: 2, outcome }, 100).effects).toEqual([
      stray,
      { type: 'released', result: { ended: 'gone' } },
    ])
  })

  it('keeps it while the release is repeated', () => {
    const failed = after(
      releasing({ hasStray: true, limitAt: 1_000 }),
      { type: 'failure', op: 2, error: new Error('reset'), definitive: false },
      100,
    )
    expect(failed.state).toMatchObject({ phase: 'releasing', hasStray: true })
    expect(after(failed.state, { type: 'tick' }, 999).state).toMatchObject({ call: 'release', hasStray: true })
  })
})
