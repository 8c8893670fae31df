import { LeaseTimeoutError, LeaseUnavailableError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../../src/engine/engine-event.js'
import { rules } from '../support/rules.js'
import { recordOf } from '../support/scripted-store.js'
import { acquiring, after, grant, held } from '../support/transitions.js'

const holder = recordOf()
const reset = new Error('reset')
const yes: EngineEvent = { type: 'acquire-answer', op: 1, outcome: { granted: true, grant } }
const no: EngineEvent = { type: 'acquire-answer', op: 1, outcome: { granted: false, holder } }
const failed: EngineEvent = { type: 'failure', op: 1, error: reset, definitive: false }
const asks = { type: 'call', op: 2, request: { method: 'acquire', grantId: 'mine', queue: false } }
const waits = acquiring({ call: undefined, retryAt: 500, refusals: 2, failures: 1, failure: reset })

/** A quarter of the interval: where all that is random is at its longest. */
const FIRST_HEARTBEAT = 250

describe('from idle', () => {
  const idle = { phase: 'idle', op: 4 } as const

  it('a claim is sent, with the next call number and its time limit', () => {
    expect(after(idle, { type: 'acquire', grantId: 'mine', queue: true }, 70)).toEqual({
      state: acquiring({
        op: 5,
        queue: true,
        sentAt: 70,
        firstSentAt: 70,
        call: { method: 'acquire', sentAt: 70, limitAt: 1_070 },
      }),
      effects: [{ type: 'call', op: 5, request: { method: 'acquire', grantId: 'mine', queue: true } }],
    })
  })

  it('an adoption changes the handed-off grant to this owner', () => {
    const adopted = { ...grant, grantId: 'theirs' }
    const { state, effects } = after(idle, { type: 'acquire', grantId: 'mine', queue: false, adopted }, 0)
    const to = { grantId: 'mine', owner: 'me' }
    expect(effects).toEqual([{ type: 'call', op: 5, request: { method: 'change', grant: adopted, to } }])
    const call = { method: 'change', sentAt: 0, limitAt: 1_000 } as const
    expect(state).toEqual(acquiring({ op: 5, adopted, call }))
  })

  it.each(['tick', 'cancel', 'release', 'turn', 'queue'] as const)('%s changes nothing', (type) => {
    expect(after(idle, { type }, 0)).toEqual({ state: idle, effects: [] })
  })
})

describe('from acquiring, an answer', () => {
  it('that grants makes the lease held, from the send time of the claim', () => {
    expect(after(acquiring({ sentAt: 5 }), yes, 100, { suspended: 9 })).toEqual({
      state: held({ confirmedAt: 5, validUntil: 9_880, suspended: 9, heartbeatAt: 5 + FIRST_HEARTBEAT }),
      effects: [{ type: 'granted', grant }],
    })
  })

  it('that grants a shorter ttl counts with that ttl', () => {
    const short = { ...grant, ttl: 1_000 }
    const { state } = after(acquiring(), { ...yes, outcome: { granted: true, grant: short } }, 0)
    expect(state).toEqual(held({ grant: short, validUntil: 965, heartbeatAt: (965 * 0.95) / 4 }))
  })

  it('that grants a self-fenced lease leaves time to end the process, within maxHold', () => {
    const fenced = { rules: { ...rules, fenceReserve: 700 } }
    const heartbeatAt = FIRST_HEARTBEAT
    expect(after(acquiring(), yes, 0, fenced).state).toEqual(held({ validUntil: 9_175, heartbeatAt }))
    const limited = { rules: { ...rules, fenceReserve: 700, maxHold: 9_500 } }
    expect(after(acquiring(), yes, 0, limited).state).toEqual(
      held({ validUntil: 9_175, holdUntil: 9_500, heartbeatAt }),
    )
  })

  it('that grants exactly at the end of the validity is a failure, and the grant is released', () => {
    const sent = acquiring({ sentAt: 100 })
    const { state, effects } = after(sent, yes, 9_975)
    const error = expect.any(LeaseTimeoutError)
    const failing = { call: undefined, retryAt: 10_025, failures: 1, failure: error, uncertainSince: 100 }
    expect(state).toEqual({ ...sent, ...failing })
    expect(effects).toEqual([{ type: 'failed', error, definitive: false }])
    expect(String(state.phase === 'acquiring' && state.failure)).toContain(
      "acquire of lease 'job' did not answer within 9875 ms",
    )
    expect(after(sent, yes, 9_974).state.phase).toBe('held')
  })

  it('that refuses is followed by a pause that grows with the refusals; earlier failures no longer count', () => {
    expect(after(acquiring({ refusals: 1, failures: 3, failure: reset }), no, 100)).toEqual({
      state: acquiring({ call: undefined, retryAt: 175, refusals: 2 }),
      effects: [{ type: 'refused', holder }],
    })
  })

  it('that refuses is followed by no pause if the store has reported our turn meanwhile', () => {
    const { state } = after(acquiring({ woken: true }), no, 100)
    expect(state).toMatchObject({ retryAt: 100, refusals: 1 })
  })

  it('that refuses a waiter in a queue is followed by a claim that is sent together with those of others', () => {
    const shared = (at: number, now: number): number => at - 60 - now
    const queue = { ...rules, watched: true, ordered: true }
    const { state } = after(acquiring(), no, 100, { rules: queue, shared })
    expect(state).toMatchObject({ retryAt: 100 + rules.ttl / 2 - 60 - 100 })
    for (const alone of [rules, { ...queue, ordered: false }]) {
      const expected = after(acquiring(), no, 100, { rules: alone }).state
      expect(after(acquiring(), no, 100, { rules: alone, shared }).state).toEqual(expected)
    }
    expect(after(acquiring({ woken: true }), no, 100, { rules: queue, shared }).state).toMatchObject({ retryAt: 100 })
  })

  it('to an earlier call changes nothing', () => {
    const state = acquiring({ op: 2 })
    for (const event of [yes, no, failed, { type: 'read-answer', op: 1, record: holder } as const]) {
      expect(after(state, event, 0)).toEqual({ state, effects: [] })
    }
  })

  it('to an aborted call changes nothing', () => {
    for (const event of [yes, no, failed, { type: 'read-answer', op: 1, record: holder } as const]) {
      expect(after(waits, event, 0)).toEqual({ state: waits, effects: [] })
    }
  })
})

describe('from acquiring, a failure', () => {
  it('with time left is settled by reading, within the limit of the attempt', () => {
    expect(after(acquiring({ sentAt: 20 }), failed, 300)).toEqual({
      state: acquiring({
        op: 2,
        sentAt: 20,
        call: { method: 'read', sentAt: 0, limitAt: 1_000 },
        failure: reset,
        uncertainSince: 20,
      }),
      effects: [{ type: 'call', op: 2, request: { method: 'read' } }],
    })
  })

  it('at the limit of the attempt is reported, and the next attempt follows after a pause', () => {
    expect(after(acquiring({ failures: 1 }), failed, 1_000)).toEqual({
      state: acquiring({ call: undefined, retryAt: 1_100, failures: 2, failure: reset, uncertainSince: 0 }),
      effects: [{ type: 'failed', error: reset, definitive: false }],
    })
    expect(after(acquiring(), failed, 999).effects).toMatchObject([{ type: 'call' }])
  })

  it('is followed by the pause requested by the store, up to a minute', () => {
    const busy = (retryAfter: number): EngineEvent => {
      return { ...failed, error: new LeaseUnavailableError('busy', { retryAfter }) }
    }
    expect(after(acquiring(), busy(7_000), 1_000).state).toMatchObject({ retryAt: 8_000 })
    expect(after(acquiring(), busy(1e9), 1_000).state).toMatchObject({ retryAt: 61_000 })
    expect(after(acquiring({ failures: 1 }), busy(1), 1_000).state).toMatchObject({ retryAt: 1_100 })
  })

  it('that is definitive is reported as such, and needs no cleanup', () => {
    expect(after(acquiring(), { ...failed, definitive: true }, 10)).toEqual({
      state: acquiring({ call: undefined, retryAt: 60, failures: 1, failure: reset }),
      effects: [{ type: 'failed', error: reset, definitive: true }],
    })
  })

  it('counts from the first request that may have taken effect', () => {
    const { state } = after(acquiring({ sentAt: 800, uncertainSince: 100 }), failed, 900)
    expect(state).toMatchObject({ uncertainSince: 100 })
  })

  it('of the settling read keeps the first failure, although the second is definitive', () => {
    const reading = acquiring({ op: 2, call: { method: 'read', sentAt: 0, limitAt: 1_000 }, failure: reset })
    const error = new Error('no read')
    for (const definitive of [true, false]) {
      expect(after(reading, { type: 'failure', op: 2, error, definitive }, 400)).toEqual({
        state: acquiring({ op: 2, call: undefined, retryAt: 450, failures: 1, failure: reset }),
        effects: [{ type: 'failed', error: reset, definitive: false }],
      })
    }
  })
})

describe('from acquiring, a read after a lost answer', () => {
  const reading = acquiring({
    op: 2,
    sentAt: 700,
    call: { method: 'read', sentAt: 700, limitAt: 1_700 },
    failure: reset,
    firstSentAt: 100,
    uncertainSince: 100,
  })
  const ours = recordOf({ owner: 'me', grantId: 'mine', fencingToken: 3n })

  it('that finds our grant makes the lease held, from the first request under its id', () => {
    expect(after(reading, { type: 'read-answer', op: 2, record: ours }, 900)).toEqual({
      state: held({ op: 2, confirmedAt: 100, validUntil: 9_975, hasStray: true, heartbeatAt: 100 + FIRST_HEARTBEAT }),
      effects: [{ type: 'granted', grant }],
    })
  })

  it('that finds our grant counts from a request that was refused: a copy of it may have been granted later', () => {
    const { state } = after({ ...reading, uncertainSince: 700 }, { type: 'read-answer', op: 2, record: ours }, 900)
    expect(state).toMatchObject({ confirmedAt: 100 })
  })

  it.each(['leased', 'breaking'] as const)('that finds %s by another owner is a refusal', (state) => {
    const record = recordOf({ state })
    expect(after(reading, { type: 'read-answer', op: 2, record }, 900)).toEqual({
      state: { ...reading, call: undefined, retryAt: 950, refusals: 1, failure: undefined },
      effects: [{ type: 'refused', holder: record }],
    })
  })

  it('that finds our own grant broken is a refusal', () => {
    const record = { ...ours, state: 'breaking' as const }
    expect(after(reading, { type: 'read-answer', op: 2, record }, 900).effects).toEqual([
      { type: 'refused', holder: record },
    ])
  })

  it.each([
    undefined,
    recordOf({ state: 'available' }),
    recordOf({ state: 'expired' }),
    recordOf({ state: 'broken' }),
    // Locked by an unknown holder, possibly by this request.
    recordOf({ state: 'leased', owner: '', grantId: '' }),
    recordOf({ state: 'breaking', owner: '', grantId: '' }),
  ])('that finds no holder settles nothing: %#', (record) => {
    expect(after(reading, { type: 'read-answer', op: 2, record }, 900)).toEqual({
      state: { ...reading, call: undefined, retryAt: 950, failures: 1 },
      effects: [{ type: 'failed', error: reset, definitive: false }],
    })
  })
})

describe('from acquiring, as time passes', () => {
  it('a call is aborted exactly at its time limit', () => {
    const state = acquiring()
    expect(after(state, { type: 'tick' }, 999)).toEqual({ state, effects: [] })
    const error = expect.any(LeaseTimeoutError)
    const ended = after(state, { type: 'tick' }, 1_000)
    expect(ended).toEqual({
      state: acquiring({ call: undefined, retryAt: 1_050, failures: 1, failure: error, uncertainSince: 0 }),
      effects: [{ type: 'abort' }, { type: 'failed', error, definitive: false }],
    })
    expect(String(ended.state.phase === 'acquiring' && ended.state.failure)).toContain(
      "acquire of lease 'job' did not answer within 1000 ms",
    )
  })

  it('has one more turn of the event loop when its time limit is noticed late', () => {
    const late = after(acquiring(), { type: 'tick' }, 1_021)
    expect(late.effects).toEqual([])
    expect(after(late.state, yes, 1_021).state.phase).toBe('held')
    expect(after(late.state, { type: 'tick' }, 1_100).effects[0]).toEqual({ type: 'abort' })
  })

  it('the request is repeated exactly at the end of the pause, and keeps its state', () => {
    expect(after(waits, { type: 'tick' }, 499)).toEqual({ state: waits, effects: [] })
    const call = { method: 'acquire', sentAt: 500, limitAt: 1_500 } as const
    expect(after({ ...waits, uncertainSince: 3 }, { type: 'tick' }, 500)).toEqual({
      state: acquiring({ op: 2, call, sentAt: 500, refusals: 2, failures: 1, failure: reset, uncertainSince: 3 }),
      effects: [asks],
    })
  })
})

describe('from acquiring, by the store or a caller', () => {
  it('a turn repeats the request at once, or after the call in progress', () => {
    expect(after(waits, { type: 'turn' }, 20)).toMatchObject({ state: { op: 2, sentAt: 20 }, effects: [asks] })
    expect(after(acquiring(), { type: 'turn' }, 20)).toEqual({ state: acquiring({ woken: true }), effects: [] })
  })

  it('a holder seen by the store delays the request to its expiry, and clears earlier failures', () => {
    const event: EngineEvent = { type: 'turn', holder: recordOf({ remaining: 4_000 }) }
    expect(after(waits, event, 20)).toEqual({
      state: { ...waits, retryAt: 4_025, failures: 0, failure: undefined },
      effects: [],
    })
    expect(after(acquiring(), event, 20)).toEqual({ state: acquiring(), effects: [] })
  })

  it('a holder that is our own earlier claim, or has no known expiry, repeats the request at once', () => {
    const unknown = [recordOf(), recordOf({ remaining: Number.NaN }), recordOf({ remaining: '4000' as never })]
    for (const holder of [recordOf({ grantId: 'mine', remaining: 4_000 }), ...unknown]) {
      expect(after(waits, { type: 'turn', holder }, 20).effects).toEqual([asks])
      expect(after(acquiring(), { type: 'turn', holder }, 20).state).toEqual(acquiring({ woken: true }))
    }
  })

  it('a place in the queue is kept from the next request', () => {
    expect(after(waits, { type: 'queue' }, 20)).toEqual({ state: { ...waits, queue: true }, effects: [] })
  })

  it.each(['cancel', 'release'] as const)('%s aborts the call and releases a possible grant', (type) => {
    expect(after(acquiring({ queue: true }), { type }, 20)).toEqual({
      state: { phase: 'idle', op: 1 },
      effects: [
        { type: 'abort' },
        { type: 'withdraw', grantId: 'mine' },
        { type: 'cleanup', grantId: 'mine', grant: undefined, hasStray: true },
      ],
    })
    const effects = [{ type: 'cleanup', grantId: 'mine', grant: undefined, hasStray: true }]
    expect(after({ ...waits, uncertainSince: 0 }, { type }, 20)).toEqual({ state: { phase: 'idle', op: 1 }, effects })
    expect(after(waits, { type }, 20)).toEqual({ state: { phase: 'idle', op: 1 }, effects: [] })
  })

  it('acquire changes nothing', () => {
    const state = acquiring()
    expect(after(state, { type: 'acquire', grantId: 'other', queue: true }, 0)).toEqual({ state, effects: [] })
  })
})

describe('from acquiring, a grant of a repeated claim', () => {
  it('keeps an aborted request as a stray', () => {
    const repeated = acquiring({ op: 2, sentAt: 700, uncertainSince: 100 })
    const outcome = { granted: true, grant } as const
    expect(after(repeated, { type: 'acquire-answer', op: 2, outcome }, 800).state).toMatchObject({ hasStray: true })
  })

  it('keeps no stray when only one request was sent, answered or found by a read', () => {
    const outcome = { granted: true, grant } as const
    expect(after(acquiring(), { type: 'acquire-answer', op: 1, outcome }, 800).state).toMatchObject({ hasStray: false })
    const reading = acquiring({ op: 2, call: { method: 'read', sentAt: 0, limitAt: 1_000 }, uncertainSince: 0 })
    const record = recordOf({ owner: 'me', grantId: 'mine', fencingToken: 3n })
    expect(after(reading, { type: 'read-answer', op: 2, record }, 800).state).toMatchObject({
      phase: 'held',
      hasStray: false,
    })
  })
})
