import type { Grant } from '@leasehold/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EngineEffect } from '../../src/engine/engine-effect.js'
import { confirmed, type EngineEvent } from '../../src/engine/engine-event.js'
import { awaits, type EngineState } from '../../src/engine/engine-state.js'
import type { EventContext } from '../../src/engine/event-context.js'
import { transition } from '../../src/engine/transition.js'
import { validityOf } from '../../src/time/validity.js'
import { rules } from '../support/rules.js'
import { recordOf } from '../support/scripted-store.js'

const holder = recordOf()
const plan = { after: 1_000, attemptTimeout: 1_000 }

/** The next random event: time passes, a caller requests an operation, or the store answers a call, possibly late. */
const step = fc.record({
  wait: fc.constantFrom(0, 0, 1, 10, 300, 1_000, 2_500, 12_000),
  kind: fc.constantFrom(
    ...([
      'acquire',
      'cancel',
      'release',
      'hand-off',
      'end',
      'tick',
      'tick',
      'turn',
      'queue',
      'changed',
      'renew',
      'preempt',
    ] as const),
    ...(['yes', 'yes', 'yes', 'no', 'fail', 'fail-for-good', 'read-ours', 'read-other', 'read-none'] as const),
  ),
  /** The call that gets the answer: usually the last one. */
  back: fc.constantFrom(0, 0, 0, 0, 1, 2),
  random: fc.double({ min: 0, max: 1, noNaN: true }),
  isParentLost: fc.constantFrom(false, false, false, false, false, false, false, true),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

class World {
  state: EngineState = { phase: 'idle', op: 0 }
  now = 0
  grants = 0
  readonly losses = new Map<string, number>()
  readonly released = new Set<string>()
  /** Calls in progress, by their number. */
  readonly open = new Map<number, { sentAt: number; grantId: string }>()
  readonly sent: { op: number; method: string; grantId: string; sentAt: number }[] = []

  take({ wait, kind, back, random, isParentLost }: Step): void {
    this.now += wait
    const event = this.#eventOf(kind, back)
    if (event === undefined) return
    const times = { now: this.now, suspended: 0, random: () => random, plan: () => plan, shared: (at: number) => at }
    const context: EventContext = { rules, ...times, isParentLost, isUnresponsive: false }
    const before = this.state
    const frozen = JSON.stringify(before, replaceBigints)
    const { state, effects } = transition(before, event, context)
    expect(JSON.stringify(before, replaceBigints)).toBe(frozen)
    this.state = state
    if ('op' in event) this.open.delete(event.op)
    // The engine has compared the number: it is that of the only call.
    if (event.type === 'confirmed') this.open.clear()
    for (const effect of effects) this.#check(effect, before)
    this.#checkState()
    if (!isParentLost) return
    if (!('op' in event)) expect(['idle', 'releasing']).toContain(state.phase)
    if (before.phase === 'acquiring') expect(['idle', 'acquiring']).toContain(state.phase)
  }

  #eventOf(kind: Step['kind'], back: number): EngineEvent | undefined {
    const call = this.sent.at(-1 - back)
    const op = call?.op ?? 0
    const grantId = call?.grantId ?? ''
    const grant: Grant = { name: 'job', owner: 'me', grantId, fencingToken: BigInt(this.grants), ttl: rules.ttl }
    switch (kind) {
      case 'acquire':
        this.grants += 1
        return { type: 'acquire', grantId: `g${this.grants}`, queue: false }
      case 'hand-off':
        this.grants += 1
        return { type: 'hand-off', to: { grantId: `g${this.grants}`, owner: 'you' } }
      case 'preempt':
        return { type: 'preempt', holder, notice: 0 }
      case 'end':
        return { type: 'end', reason: 'closed' }
      case 'fail':
        return { type: 'failure', op, error: new Error('reset'), definitive: false }
      case 'fail-for-good':
        return { type: 'failure', op, error: new Error('no'), definitive: true }
      case 'read-ours':
        return call?.method === 'read' ? { type: 'read-answer', op, record: { ...holder, ...grant } } : undefined
      case 'read-other':
        return call?.method === 'read' ? { type: 'read-answer', op, record: holder } : undefined
      case 'read-none':
        return call?.method === 'read' ? { type: 'read-answer', op, record: undefined } : undefined
      case 'yes':
        if (call?.method === 'acquire' || call?.method === 'change') {
          return { type: 'acquire-answer', op, outcome: { granted: true, grant } }
        }
        if (call?.method === 'renew') {
          // As in a batch, and as in a call of its own.
          const isInBatch = op % 2 === 0
          return isInBatch && awaits(this.state, op)
            ? confirmed
            : { type: 'renew-answer', op, outcome: { renewed: true } }
        }
        if (call?.method === 'break') return { type: 'break-answer', op, remaining: 500 }
        return call?.method === 'release' ? { type: 'release-answer', op, outcome: { released: true } } : undefined
      case 'no':
        if (call?.method === 'acquire' || call?.method === 'change') {
          return { type: 'acquire-answer', op, outcome: { granted: false, holder } }
        }
        if (call?.method === 'renew') {
          return { type: 'renew-answer', op, outcome: { renewed: false, reason: 'taken', holder } }
        }
        return call?.method === 'release'
          ? { type: 'release-answer', op, outcome: { released: false, holder } }
          : undefined
      default:
        return { type: kind }
    }
  }

  #check(effect: EngineEffect, before: EngineState): void {
    switch (effect.type) {
      case 'abort':
        // There is no call if the loss came with the answer.
        expect(this.open.size).toBeLessThanOrEqual(1)
        this.open.clear()
        return
      case 'call': {
        // One operation in flight.
        expect(this.open.size).toBe(0)
        const grantId = grantIdOf(effect, this.state)
        this.open.set(effect.op, { sentAt: this.now, grantId })
        this.sent.push({ op: effect.op, method: effect.request.method, grantId, sentAt: this.now })
        return
      }
      case 'lost': {
        const { grantId } = effect.grant
        expect(this.released.has(grantId)).toBe(false)
        expect(this.losses.get(grantId) ?? 0).toBe(0)
        this.losses.set(grantId, 1)
        expect(this.state.phase).toBe('idle')
        return
      }
      case 'released':
        expect(before.phase).toBe('releasing')
        return
      default:
    }
  }

  #checkState(): void {
    const { state } = this
    if (state.phase === 'releasing') this.released.add(state.grant.grantId)
    if (state.phase !== 'held' && state.phase !== 'jeopardy') return
    // The validity ends at most a ttl after a request for this grant was sent.
    const latest = Math.max(...this.sent.filter(({ grantId }) => grantId === state.grant.grantId).map((c) => c.sentAt))
    expect(state.validUntil).toBeLessThanOrEqual(latest + validityOf(rules.ttl))
    expect(this.losses.has(state.grant.grantId)).toBe(false)
    expect(this.released.has(state.grant.grantId)).toBe(false)
  }
}

function grantIdOf({ request }: Extract<EngineEffect, { type: 'call' }>, state: EngineState): string {
  if (request.method === 'acquire' || request.method === 'break') return request.grantId
  if (request.method === 'change') return request.to.grantId
  if (request.method === 'read') return state.phase === 'acquiring' ? state.grantId : ''
  return request.grant.grantId
}

function replaceBigints(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' || value instanceof Error ? String(value) : value
}

describe('the transition function, with random schedules of time, requests and answers', () => {
  it('has one call in flight, prolongs validity only by confirmed requests, and loses a grant at most once', () => {
    let held = 0
    let lost = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
        const world = new World()
        for (const taken of steps) {
          world.take(taken)
          if (world.state.phase === 'held') held += 1
        }
        lost += world.losses.size
      }),
      { numRuns: 3_000 },
    )
    // The schedules reach the states under test.
    expect(held).toBeGreaterThan(1_000)
    expect(lost).toBeGreaterThan(100)
  })
})
