import { LeaseTimeoutError, LeaseUnavailableError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../../src/engine/engine-event.js'
import { recordOf } from '../support/scripted-store.js'
import { acquiring, after, grant, held, releasing } from '../support/transitions.js'

const VALIDITY = 9_875
const reset = new Error('reset')
const call = { method: 'renew', sentAt: 1_000, limitAt: 2_000 } as const
/** A heartbeat is under way. */
const beating = held({ op: 2, call, heartbeatAt: 1_000 })
const renewed: EngineEvent = { type: 'renew-answer', op: 2, outcome: { renewed: true } }
const failed: EngineEvent = { type: 'failure', op: 2, error: reset, definitive: false }
const takenBack = { type: 'cleanup', grantId: 'mine', grant, hasStray: false }

describe('from held, the plan of the next heartbeat', () => {
  const planned = (after: number) => ({ type: 'plan', plan: { after, attemptTimeout: 300 } }) as const

  it('counts from the last confirmed request', () => {
    const state = held({ confirmedAt: 400, validUntil: 400 + VALIDITY })
    expect(after(state, planned(1_000), 500)).toEqual({
      state: { ...state, heartbeatAt: 1_400, attemptTimeout: 300 },
      effects: [],
    })
  })

  it('is never later than 95 % of the validity, and half of it where it is no plan at all', () => {
    const state = held({ confirmedAt: 400, validUntil: 400 + VALIDITY })
    expect(after(state, planned(60_000), 500).state).toMatchObject({ heartbeatAt: 400 + VALIDITY * 0.95 })
    for (const none of [0, -5, Number.NaN]) {
      expect(after(state, planned(none), 500).state).toMatchObject({ heartbeatAt: 400 + (VALIDITY * 0.95) / 2 })
    }
  })

  it('changes nothing where one is under way, or planned', () => {
    for (const state of [held({ call }), held({ heartbeatAt: 7 })]) {
      expect(after(state, planned(1_000), 500)).toEqual({ state, effects: [] })
    }
  })
})

describe('from held, a heartbeat', () => {
  it('is sent when it is due, not before, and not without a plan', () => {
    const state = held({ heartbeatAt: 1_000 })
    expect(after(state, { type: 'tick' }, 999)).toEqual({ state, effects: [] })
    expect(after(held(), { type: 'tick' }, 999)).toEqual({ state: held(), effects: [] })
    expect(after(state, { type: 'tick' }, 1_000)).toEqual({
      state: beating,
      effects: [{ type: 'call', op: 2, request: { method: 'renew', grant } }],
    })
  })

  it('has the time limit of its plan, within the validity', () => {
    const state = held({ heartbeatAt: 1_000, attemptTimeout: 300 })
    expect(after(state, { type: 'tick' }, 1_000).state).toMatchObject({ call: { limitAt: 1_300 } })
    const late = held({ phase: 'jeopardy', heartbeatAt: 9_700, attemptTimeout: 300 })
    expect(after(late, { type: 'tick' }, 9_700).state).toMatchObject({ phase: 'jeopardy', call: { limitAt: VALIDITY } })
  })

  it('is jeopardy where it is later than a whole time limit, and told once', () => {
    const sends = { type: 'call', op: 2, request: { method: 'renew', grant } }
    const late = after(held({ heartbeatAt: 1_000 }), { type: 'tick' }, 2_001)
    expect(late.effects).toEqual([sends, { type: 'jeopardy', cause: undefined, latency: undefined, begins: true }])
    expect(late.state).toMatchObject({ phase: 'jeopardy', call: { sentAt: 2_001, limitAt: 3_001 } })
    const intime = after(held({ heartbeatAt: 1_000 }), { type: 'tick' }, 2_000)
    expect(intime.effects).toEqual([sends])
    expect(intime.state.phase).toBe('held')
    const again = after(held({ phase: 'jeopardy', heartbeatAt: 1_000 }), { type: 'tick' }, 2_001)
    expect(again.effects).toEqual([sends])
    expect(again.state.phase).toBe('jeopardy')
  })

  it('that is confirmed prolongs the validity from when it was sent, and is to be planned anew', () => {
    expect(after({ ...beating, failures: 2, failure: reset }, renewed, 1_040, { suspended: 6 })).toEqual({
      state: held({ op: 2, confirmedAt: 1_000, validUntil: 1_000 + VALIDITY, suspended: 6 }),
      effects: [{ type: 'renewed', grant, latency: 40 }],
    })
  })

  it('that is confirmed ends jeopardy', () => {
    const { state, effects } = after({ ...beating, phase: 'jeopardy' }, renewed, 1_040)
    expect(state.phase).toBe('held')
    expect(effects).toEqual([
      { type: 'renewed', grant, latency: 40 },
      { type: 'recovered', grant },
    ])
  })

  it('that is confirmed prolongs the validity to the end of maxHold only, which stays where it is', () => {
    expect(after({ ...beating, holdUntil: 9_900 }, renewed, 1_040).state).toMatchObject({
      validUntil: 9_900,
      holdUntil: 9_900,
    })
  })

  it('that is refused is the loss, of which the store needs no word', () => {
    const outcome = { renewed: false, reason: 'taken' } as const
    expect(after(beating, { type: 'renew-answer', op: 2, outcome }, 1_040)).toEqual({
      state: { phase: 'idle', op: 2 },
      effects: [{ type: 'abort' }, { type: 'lost', grant, lost: { reason: 'taken' } }],
    })
    const told = { ...outcome, holder: recordOf({ owner: 'next' }) }
    expect(after(beating, { type: 'renew-answer', op: 2, outcome: told }, 1_040).effects).toEqual([
      { type: 'abort' },
      { type: 'lost', grant, lost: { reason: 'taken', owner: 'next' } },
    ])
  })

  it('that fails is repeated after a pause that grows; the validity stays', () => {
    expect(after({ ...beating, failures: 1 }, failed, 1_300)).toEqual({
      state: held({ phase: 'jeopardy', op: 2, heartbeatAt: 1_340, failures: 2, failure: reset }),
      effects: [{ type: 'jeopardy', cause: reset, latency: 300, begins: true }],
    })
  })

  it('that fails in jeopardy does not begin jeopardy again', () => {
    expect(after({ ...beating, phase: 'jeopardy', failures: 1 }, failed, 1_300).effects).toEqual([
      { type: 'jeopardy', cause: reset, latency: 300, begins: false },
    ])
  })

  it('that fails shortly before the end of validity is repeated within a quarter of what is left', () => {
    const { state } = after({ ...beating, failures: 9 }, failed, VALIDITY - 100)
    expect(state).toMatchObject({ heartbeatAt: VALIDITY - 75 })
  })

  it.each([
    { asked: 700, at: 1_300 + 700, what: 'where it leaves time' },
    { asked: 60_000, at: 1_300 + (VALIDITY - 1_300) / 2, what: 'up to half of the validity that is left' },
    { asked: Number.NaN, at: 1_340, what: 'unless it is none' },
    { asked: -5, at: 1_340, what: 'unless it is in the past' },
  ])('that fails keeps the pause that the store asks for, $what: $asked', ({ asked, at }) => {
    const error = new LeaseUnavailableError('busy', { retryAfter: asked })
    expect(after({ ...beating, failures: 1 }, { ...failed, error }, 1_300).state).toMatchObject({ heartbeatAt: at })
  })

  it('that does not answer is ended at its time limit, and is then a failure', () => {
    expect(after(beating, { type: 'tick' }, 1_999)).toEqual({ state: beating, effects: [] })
    const error = expect.any(LeaseTimeoutError)
    const ended = after(beating, { type: 'tick' }, 2_000)
    expect(ended).toEqual({
      state: held({ phase: 'jeopardy', op: 2, heartbeatAt: 2_020, failures: 1, failure: error }),
      effects: [{ type: 'abort' }, { type: 'jeopardy', cause: error, latency: 1_000, begins: true }],
    })
    expect(String(ended.state.phase === 'jeopardy' && ended.state.failure)).toContain(
      "heartbeat of lease 'job' did not answer within 1000 ms",
    )
  })

  it('is sent at once where the store saw the record changed, and once more after one that is under way', () => {
    expect(after(held({ heartbeatAt: 1_000 }), { type: 'changed' }, 300)).toEqual({
      state: held({ op: 2, heartbeatAt: 1_000, call: { method: 'renew', sentAt: 300, limitAt: 1_300 } }),
      effects: [{ type: 'call', op: 2, request: { method: 'renew', grant } }],
    })
    const changed = after(beating, { type: 'changed' }, 1_010)
    expect(changed).toEqual({ state: { ...beating, changed: true }, effects: [] })
    const next = after(changed.state, renewed, 1_040)
    expect(next).toEqual({
      state: held({
        op: 3,
        confirmedAt: 1_000,
        validUntil: 1_000 + VALIDITY,
        call: { method: 'renew', sentAt: 1_040, limitAt: 2_040 },
      }),
      effects: [
        { type: 'renewed', grant, latency: 40 },
        { type: 'call', op: 3, request: { method: 'renew', grant } },
      ],
    })
    // The one that follows has seen the change.
    expect(after(next.state, { ...renewed, op: 3 }, 1_050).effects).toEqual([{ type: 'renewed', grant, latency: 10 }])
  })

  it('that is sent after a failure has seen the change that came before', () => {
    const { state } = after({ ...beating, changed: true }, failed, 1_300)
    const { effects } = after(after(state, { type: 'tick' }, 1_400).state, { ...renewed, op: 3 }, 1_500)
    expect(effects.map(({ type }) => type)).toEqual(['renewed', 'recovered'])
  })

  it('that was given up says nothing any more', () => {
    for (const state of [held({ op: 3, call }), held({ op: 2 })]) {
      for (const event of [renewed, failed, { ...renewed, outcome: { renewed: false, reason: 'taken' } } as const]) {
        expect(after(state, event, 1_040)).toEqual({ state, effects: [] })
      }
    }
  })
})

describe('from held, the end of validity', () => {
  it('comes at its very instant, whatever happens then', () => {
    const lost = { type: 'lost', grant, lost: { reason: 'expired' } }
    for (const event of [{ type: 'tick' }, renewed, { type: 'plan', plan: { after: 1, attemptTimeout: 1 } }] as const) {
      expect(after(beating, event, VALIDITY)).toEqual({
        state: { phase: 'idle', op: 2 },
        effects: [{ type: 'abort' }, takenBack, lost],
      })
    }
    expect(after(beating, renewed, VALIDITY - 1).state.phase).toBe('held')
    expect(after(held(), { type: 'tick' }, VALIDITY).effects).toEqual([takenBack, lost])
  })

  it('tells why: the last failure, a suspend, or maxHold', () => {
    const lostOf = (changes: Parameters<typeof held>[0], suspended = 0) =>
      after(held(changes), { type: 'tick' }, VALIDITY, { suspended }).effects.at(-1)
    expect(lostOf({ failure: reset })).toStrictEqual({ type: 'lost', grant, lost: { reason: 'expired', cause: reset } })
    expect(lostOf({ suspended: 4 }, 5)).toStrictEqual({ type: 'lost', grant, lost: { reason: 'suspended' } })
    expect(lostOf({ suspended: 4 }, 4)).toStrictEqual({ type: 'lost', grant, lost: { reason: 'expired' } })
    expect(lostOf({ holdUntil: VALIDITY }, 9)).toStrictEqual({ type: 'lost', grant, lost: { reason: 'max-hold' } })
  })

  it('is the end of maxHold from the claim on, where that is sooner', () => {
    const granted = { type: 'acquire-answer', op: 1, outcome: { granted: true, grant } } as const
    expect(after(acquiring({ sentAt: 50 }), granted, 60).state).toMatchObject({
      holdUntil: Number.POSITIVE_INFINITY,
      validUntil: 50 + VALIDITY,
    })
  })
})

describe('from held, when its owner says so', () => {
  it('a release ends the heartbeat under way, and frees the name', () => {
    const release = { type: 'call', op: 3, request: { method: 'release', grant } }
    expect(after(beating, { type: 'release' }, 1_040)).toEqual({
      state: releasing({ op: 3 }),
      effects: [{ type: 'abort' }, release],
    })
    expect(after(held({ op: 2 }), { type: 'release' }, 1_040).effects).toEqual([release])
  })

  it('a release is no loss, though the validity is over', () => {
    expect(after(held(), { type: 'release' }, VALIDITY).state.phase).toBe('releasing')
  })

  it('a hand-off changes the grant', () => {
    const to = { grantId: 'theirs', owner: 'you' }
    expect(after(held(), { type: 'hand-off', to }, 1_040)).toEqual({
      state: releasing({ to, call: 'change' }),
      effects: [{ type: 'call', op: 2, request: { method: 'change', grant, to } }],
    })
  })

  it('an end is a loss for the reason given, and frees the name', () => {
    expect(after(held(), { type: 'end', reason: 'closed' }, 1_040)).toEqual({
      state: { phase: 'idle', op: 1 },
      effects: [takenBack, { type: 'lost', grant, lost: { reason: 'closed' } }],
    })
  })

  it.each(['cancel', 'turn', 'queue', 'limit'] as const)('%s changes nothing', (type) => {
    expect(after(beating, { type }, 1_040)).toEqual({ state: beating, effects: [] })
  })
})

describe('from held, with a stray request', () => {
  it('remembers it over heartbeats, and has it looked for when the grant ends', () => {
    const state = held({ op: 2, call: { method: 'renew', sentAt: 1_000, limitAt: 2_000 }, hasStray: true })
    const { state: renewed } = after(state, { type: 'renew-answer', op: 2, outcome: { renewed: true } }, 1_100)
    expect(renewed).toMatchObject({ phase: 'held', hasStray: true })
    const taken = { renewed: false, reason: 'taken' } as const
    expect(after(state, { type: 'renew-answer', op: 2, outcome: taken }, 1_100).effects).toContainEqual({
      type: 'cleanup',
      grantId: 'mine',
      grant: undefined,
      hasStray: true,
    })
    expect(after(state, { type: 'end', reason: 'closed' }, 1_100).effects).toContainEqual({
      type: 'cleanup',
      grantId: 'mine',
      grant,
      hasStray: true,
    })
    expect(after(state, { type: 'release' }, 1_100).state).toMatchObject({ phase: 'releasing', hasStray: true })
  })
})
