import { type LeaseRecord, LeaseTimeoutError, LeaseUnavailableError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { confirmed, type EngineEvent } from '../../src/engine/engine-event.js'
import type { LeaseRules } from '../../src/engine/lease-rules.js'
import { validityOf } from '../../src/time/validity.js'
import { rules } from '../support/rules.js'
import { recordOf } from '../support/scripted-store.js'
import { acquiring, after, grant, held, releasing } from '../support/transitions.js'

const VALIDITY = 9_875
const reset = new Error('reset')
const call = { method: 'renew', sentAt: 1_000, limitAt: 2_000 } as const
/** A heartbeat is in progress. */
const beating = held({ op: 2, call, heartbeatAt: 1_000 })
const renewed: EngineEvent = { type: 'renew-answer', op: 2, outcome: { renewed: true } }
const failed: EngineEvent = { type: 'failure', op: 2, error: reset, definitive: false }
const takenBack = { type: 'cleanup', grantId: 'mine', grant, hasStray: false }

describe('from held, the plan of the next heartbeat', () => {
  const planOf = (after: number, drawn = 0) => ({ plan: () => ({ after, attemptTimeout: 300 }), random: () => drawn })
  const recovering = held({ ...beating, phase: 'jeopardy' })

  it('counts from the last confirmed request', () => {
    const { state } = after(beating, renewed, 1_100, planOf(1_000, 1))
    expect(state).toMatchObject({ confirmedAt: 1_000, heartbeatAt: 2_000, attemptTimeout: 300 })
  })

  it('is up to three quarters earlier, at random, after failures', () => {
    expect(after(recovering, renewed, 1_100, planOf(1_000, 0.5)).state).toMatchObject({ heartbeatAt: 1_000 + 625 })
    expect(after(recovering, renewed, 1_100, planOf(1_000, 1)).state).toMatchObject({ heartbeatAt: 1_000 + 250 })
  })

  it('is the instant that other leases choose as well', () => {
    const shared = (at: number, now: number): number => at - 60 - now / 100
    expect(after(beating, renewed, 1_100, { ...planOf(1_000), shared }).state).toMatchObject({ heartbeatAt: 1_929 })
  })

  it('is never later than 95 % of the validity, and half of it if the plan is invalid', () => {
    expect(after(beating, renewed, 1_100, planOf(60_000)).state).toMatchObject({ heartbeatAt: 1_000 + VALIDITY * 0.95 })
    for (const none of [0, -5, Number.NaN]) {
      const { state } = after(beating, renewed, 1_100, planOf(none))
      expect(state).toMatchObject({ heartbeatAt: 1_000 + (VALIDITY * 0.95) / 2 })
    }
  })
})

describe('from held, a heartbeat', () => {
  it('is sent exactly when it is due, and not without a plan', () => {
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

  it('is jeopardy when it is late by a whole time limit, reported once', () => {
    const sends = { type: 'call', op: 2, request: { method: 'renew', grant } }
    const isLate = { type: 'jeopardy', cause: undefined, latency: undefined, begins: true }
    const late = after(held({ heartbeatAt: 1_000 }), { type: 'tick' }, 2_000)
    expect(late.effects).toEqual([sends, isLate])
    expect(late.state).toMatchObject({ phase: 'jeopardy', call: { sentAt: 2_000, limitAt: 3_000 } })
    const intime = after(held({ heartbeatAt: 1_000 }), { type: 'tick' }, 1_999)
    expect(intime.effects).toEqual([sends])
    expect(intime.state.phase).toBe('held')
    const again = after(held({ phase: 'jeopardy', heartbeatAt: 1_000 }), { type: 'tick' }, 2_000)
    expect(again.effects).toEqual([sends])
    expect(again.state.phase).toBe('jeopardy')
    // While too many others are under way, it is not sent, and reported all the same.
    const waiting = held({ heartbeatAt: 1_000 })
    const delayed = after(waiting, { type: 'crowded' }, 2_000)
    expect(delayed).toEqual({ state: { ...waiting, phase: 'jeopardy' }, effects: [isLate] })
    expect(after(waiting, { type: 'crowded' }, 1_999)).toEqual({ state: waiting, effects: [] })
    expect(after(delayed.state, { type: 'crowded' }, 2_001).effects).toEqual([])
  })

  it('that is confirmed prolongs the validity from its send time, and is followed by a planned one', () => {
    const plan = () => ({ after: 2_000, attemptTimeout: 300 })
    const context = { suspended: 6, plan }
    const next = { heartbeatAt: 3_000, attemptTimeout: 300 }
    expect(after({ ...beating, failures: 2, failure: reset }, renewed, 1_040, context)).toEqual({
      state: held({ op: 2, confirmedAt: 1_000, validUntil: 1_000 + VALIDITY, suspended: 6, ...next }),
      effects: [{ type: 'renewed', grant, latency: 40, validUntil: 9_875 }],
    })
  })

  it('is confirmed without the number of its call as with it, and only while it is under way and valid', () => {
    for (const state of [beating, { ...beating, phase: 'jeopardy', failures: 1, failure: reset } as const]) {
      expect(after(state, confirmed, 1_040)).toEqual(after(state, renewed, 1_040))
    }
    const resting = held({ heartbeatAt: 2_000 })
    expect(after(resting, confirmed, 1_040)).toEqual({ state: resting, effects: [] })
    // The end of the validity comes first.
    expect(after(beating, confirmed, VALIDITY).state.phase).toBe('idle')
  })

  it('that is confirmed ends jeopardy', () => {
    const { state, effects } = after({ ...beating, phase: 'jeopardy' }, renewed, 1_040)
    expect(state.phase).toBe('held')
    expect(effects).toEqual([
      { type: 'renewed', grant, latency: 40, validUntil: 9_875 },
      { type: 'recovered', grant },
    ])
  })

  it('that is confirmed after failures is followed by one that is up to three quarters earlier, at random', () => {
    const plan = () => ({ after: 2_000, attemptTimeout: 300 })
    for (const [phase, heartbeatAt] of [
      ['held', 3_000],
      ['jeopardy', 2_250],
    ] as const) {
      const { state } = after({ ...beating, phase }, renewed, 1_040, { plan, random: () => 0.5 })
      expect(state).toMatchObject({ heartbeatAt })
    }
  })

  it('that is confirmed prolongs the validity at most to the end of maxHold, which does not change', () => {
    expect(after({ ...beating, holdUntil: 9_900 }, renewed, 1_040).state).toMatchObject({
      validUntil: 9_900,
      holdUntil: 9_900,
    })
  })

  it('that is refused ends the lease, without a further call to the store', () => {
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

  it('that is refused because another program removed its owner ends the lease, and frees the name', () => {
    const holder = recordOf({ owner: '', grantId: 'mine', state: 'breaking' })
    const outcome = { renewed: false, reason: 'taken', holder } as const
    const lost = { type: 'lost', grant, lost: { reason: 'taken' } }
    expect(after(beating, { type: 'renew-answer', op: 2, outcome }, 1_040).effects).toEqual([
      { type: 'abort' },
      takenBack,
      lost,
    ])
  })

  it('has one more turn of the event loop when its time limit is noticed late', () => {
    expect(after(beating, { type: 'tick' }, 2_020).effects).toMatchObject([{ type: 'abort' }, { type: 'jeopardy' }])
    const late = after(beating, { type: 'tick' }, 2_021)
    expect(late).toEqual({ state: { ...beating, call: { ...call, limitAt: 2_021, isOverdue: true } }, effects: [] })
    expect(after(late.state, renewed, 2_021).state).toMatchObject({ phase: 'held', call: undefined })
    expect(after(late.state, { type: 'tick' }, 2_100).effects).toMatchObject([{ type: 'abort' }, { type: 'jeopardy' }])
  })

  it('that fails is repeated together with those of other leases', () => {
    const shared = (at: number, now: number): number => at - 5 - now / 100
    expect(after({ ...beating, failures: 1 }, failed, 1_300, { shared }).state).toMatchObject({ heartbeatAt: 1_322 })
  })

  it('that fails is repeated after growing pauses; the validity does not change', () => {
    expect(after({ ...beating, failures: 1 }, failed, 1_300)).toEqual({
      state: held({ phase: 'jeopardy', op: 2, heartbeatAt: 1_340, failures: 2, failure: reset }),
      effects: [{ type: 'jeopardy', cause: reset, latency: 300, begins: true }],
    })
  })

  it('that fails in jeopardy does not start jeopardy again', () => {
    expect(after({ ...beating, phase: 'jeopardy', failures: 1 }, failed, 1_300).effects).toEqual([
      { type: 'jeopardy', cause: reset, latency: 300, begins: false },
    ])
  })

  it('that fails shortly before the end of validity is repeated within a quarter of the remaining time', () => {
    const { state } = after({ ...beating, failures: 9 }, failed, VALIDITY - 100)
    expect(state).toMatchObject({ heartbeatAt: VALIDITY - 75 })
  })

  it.each([
    { asked: 700, at: 1_300 + 700, what: 'where it leaves time' },
    { asked: 60_000, at: 1_300 + (VALIDITY - 1_300) / 2, what: 'up to half of the validity that is left' },
    { asked: Number.NaN, at: 1_340, what: 'unless it is none' },
    { asked: -5, at: 1_340, what: 'unless it is in the past' },
  ])('that fails keeps the pause requested by the store, $what: $asked', ({ asked, at }) => {
    const error = new LeaseUnavailableError('busy', { retryAfter: asked })
    expect(after({ ...beating, failures: 1 }, { ...failed, error }, 1_300).state).toMatchObject({ heartbeatAt: at })
  })

  it('without an answer is aborted at its time limit and counts as a failure', () => {
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

  it('is sent at once after a foreign change, or directly after a heartbeat in progress', () => {
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
        heartbeatAt: 2_000,
      }),
      effects: [
        { type: 'renewed', grant, latency: 40, validUntil: 9_875 },
        { type: 'call', op: 3, request: { method: 'renew', grant } },
      ],
    })
    // The following heartbeat has seen the change.
    expect(after(next.state, { ...renewed, op: 3 }, 1_050).effects).toEqual([
      { type: 'renewed', grant, latency: 10, validUntil: 10_875 },
    ])
  })

  it('that is sent after a failure covers an earlier foreign change', () => {
    const { state } = after({ ...beating, changed: true }, failed, 1_300)
    const { effects } = after(after(state, { type: 'tick' }, 1_400).state, { ...renewed, op: 3 }, 1_500)
    expect(effects.map(({ type }) => type)).toEqual(['renewed', 'recovered'])
  })

  it('that was aborted is ignored', () => {
    for (const state of [held({ op: 3, call }), held({ op: 2 })]) {
      for (const event of [renewed, failed, { ...renewed, outcome: { renewed: false, reason: 'taken' } } as const]) {
        expect(after(state, event, 1_040)).toEqual({ state, effects: [] })
      }
    }
  })
})

describe('from held, the end of validity', () => {
  it('comes at its exact time, with every event', () => {
    const lost = { type: 'lost', grant, lost: { reason: 'expired' } }
    for (const event of [{ type: 'tick' }, renewed, { type: 'crowded' }] as const) {
      expect(after(beating, event, VALIDITY)).toEqual({
        state: { phase: 'idle', op: 2 },
        effects: [{ type: 'abort' }, takenBack, lost],
      })
    }
    expect(after(beating, renewed, VALIDITY - 1).state.phase).toBe('held')
    expect(after(held(), { type: 'tick' }, VALIDITY).effects).toEqual([takenBack, lost])
  })

  it('has a reason: the last failure, a suspend, or maxHold', () => {
    const lostOf = (changes: Parameters<typeof held>[0], suspended = 0) =>
      after(held(changes), { type: 'tick' }, VALIDITY, { suspended }).effects.at(-1)
    expect(lostOf({ failure: reset })).toStrictEqual({ type: 'lost', grant, lost: { reason: 'expired', cause: reset } })
    expect(lostOf({ suspended: 4 }, 5)).toStrictEqual({ type: 'lost', grant, lost: { reason: 'suspended' } })
    expect(lostOf({ suspended: 4 }, 4)).toStrictEqual({ type: 'lost', grant, lost: { reason: 'expired' } })
    expect(lostOf({ holdUntil: VALIDITY }, 9)).toStrictEqual({ type: 'lost', grant, lost: { reason: 'max-hold' } })
  })

  it('is the end of maxHold, counted from the claim, if that is sooner', () => {
    const granted = { type: 'acquire-answer', op: 1, outcome: { granted: true, grant } } as const
    expect(after(acquiring({ sentAt: 50 }), granted, 60).state).toMatchObject({
      holdUntil: Number.POSITIVE_INFINITY,
      validUntil: 50 + VALIDITY,
    })
  })
})

describe('from held, whose grant is kept by another thread', () => {
  it('counts its validity from the heartbeat of the keeper, also after the end of its own', () => {
    const kept = { type: 'kept', sentAt: 5_000 } as const
    const { state, effects } = after(held({ heartbeatAt: 1_000 }), kept, VALIDITY + 1)
    expect(state).toMatchObject({ phase: 'held', confirmedAt: 5_000, validUntil: 5_000 + VALIDITY })
    expect(state).toMatchObject({ heartbeatAt: 5_000 + rules.heartbeatInterval, call: undefined })
    expect(effects).toEqual([{ type: 'renewed', grant, latency: undefined, validUntil: 9_875 }])
  })

  it('goes on with the heartbeat that is under way', () => {
    const { state } = after(beating, { type: 'kept', sentAt: 5_000 }, 5_010)
    expect(state).toMatchObject({ confirmedAt: 5_000, call: { method: 'renew' } })
  })

  it('is not in jeopardy any more', () => {
    const { state } = after(beating, failed, 1_100)
    const { effects } = after(state, { type: 'kept', sentAt: 1_200 }, 1_300)
    expect(effects).toContainEqual({ type: 'recovered', grant })
  })

  it('ignores a heartbeat that was sent before its own last one', () => {
    const own = held({ confirmedAt: 2_000, validUntil: 2_000 + VALIDITY })
    expect(after(own, { type: 'kept', sentAt: 1_999 }, 2_100)).toEqual({ state: own, effects: [] })
  })

  it('is lost for the reason of the refusal, also after the end of its validity', () => {
    const outcome = { renewed: false, reason: 'broken' } as const
    const { state, effects } = after(held({}), { type: 'kept-refused', outcome }, VALIDITY + 1)
    expect(state.phase).toBe('idle')
    expect(effects).toEqual([{ type: 'lost', grant, lost: { reason: 'broken' } }])
  })

  it('ends as unresponsive if it was not renewed because this thread showed no sign of life', () => {
    const lost = { type: 'lost', grant, lost: { reason: 'unresponsive' } }
    expect(after(held({}), { type: 'tick' }, VALIDITY, { isUnresponsive: true }).effects).toEqual([takenBack, lost])
  })

  it('is closed with the cause if what keeps it has ended', () => {
    const cause = new Error('it has ended')
    const { effects } = after(held({}), { type: 'store-closed', error: cause, cause }, 100)
    expect(effects.at(-1)).toEqual({ type: 'lost', grant, lost: { reason: 'closed', cause } })
  })
})

describe('from held, by its owner', () => {
  it('a release aborts the heartbeat in progress and frees the name', () => {
    const release = { type: 'call', op: 3, request: { method: 'release', grant } }
    expect(after(beating, { type: 'release' }, 1_040)).toEqual({
      state: releasing({ op: 3, limitAt: 2_040 }),
      effects: [{ type: 'abort' }, release],
    })
    expect(after(held({ op: 2 }), { type: 'release' }, 1_040).effects).toEqual([release])
  })

  it('a release is no loss, although the validity has ended', () => {
    expect(after(held(), { type: 'release' }, VALIDITY).state.phase).toBe('releasing')
  })

  it('a hand-off changes the grant', () => {
    const to = { grantId: 'theirs', owner: 'you' }
    expect(after(held(), { type: 'hand-off', to }, 1_040)).toEqual({
      state: releasing({ to, call: 'change', limitAt: 2_040 }),
      effects: [{ type: 'call', op: 2, request: { method: 'change', grant, to } }],
    })
  })

  it('an end is a loss with the given reason, and frees the name', () => {
    expect(after(held(), { type: 'end', reason: 'closed' }, 1_040)).toEqual({
      state: { phase: 'idle', op: 1 },
      effects: [takenBack, { type: 'lost', grant, lost: { reason: 'closed' } }],
    })
  })

  it.each(['cancel', 'turn', 'queue'] as const)('%s changes nothing', (type) => {
    expect(after(beating, { type }, 1_040)).toEqual({ state: beating, effects: [] })
  })
})

describe('from held, with a stray request', () => {
  it('keeps it during heartbeats, and starts a cleanup when the grant ends', () => {
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

describe('from held, a break with a period', () => {
  const own = { owner: 'me', grantId: 'mine', state: 'breaking' as const, remaining: 3_000 }
  const refused = (record: Partial<LeaseRecord>): EngineEvent => ({
    type: 'renew-answer',
    op: 2,
    outcome: { renewed: false, reason: 'broken', holder: recordOf({ ...own, ...record }) },
  })
  const lostAfter = (event: EngineEvent, state = beating, changed: Partial<LeaseRules> = {}) => {
    const { effects } = after(state, event, 1_900, { rules: { ...rules, ...changed } })
    return effects.find((effect) => effect.type === 'lost')?.lost
  }

  it('locks the name from when the record was asked for', () => {
    expect(lostAfter(refused({}))).toEqual({ reason: 'broken', owner: 'me', lockedUntil: 1_000 + validityOf(3_000) })
    const looking = held({ op: 2, call: { ...call, method: 'read' } })
    const read: EngineEvent = { type: 'read-answer', op: 2, record: recordOf(own) }
    expect(lostAfter(read, looking)).toEqual({ reason: 'broken', lockedUntil: 1_000 + validityOf(3_000) })
  })

  it('never locks it for longer than the validity', () => {
    expect(lostAfter(refused({ remaining: 60_000 }))).toMatchObject({ lockedUntil: VALIDITY })
  })

  it('counts from the last confirmed heartbeat, if the keeper of the grant has asked', () => {
    const outcome = { renewed: false, reason: 'broken', holder: recordOf(own) } as const
    const state = { ...beating, confirmedAt: 300 }
    expect(lostAfter({ type: 'kept-refused', outcome }, state)).toMatchObject({ lockedUntil: 300 + validityOf(3_000) })
  })

  it('certainly locks no name of another grant, none that is broken already, and none that each observes', () => {
    expect(lostAfter(refused({ grantId: 'other' }))).not.toHaveProperty('lockedUntil')
    expect(lostAfter(refused({ state: 'broken' }))).not.toHaveProperty('lockedUntil')
    expect(lostAfter(refused({}), beating, { observed: true })).not.toHaveProperty('lockedUntil')
  })
})
