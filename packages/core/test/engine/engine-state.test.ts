import { describe, expect, it } from 'vitest'
import {
  awaits,
  delayedUntil,
  type EngineState,
  hasUsualLimit,
  limitOf,
  wakeAt,
} from '../../src/engine/engine-state.js'
import { acquiring, held, releasing } from '../support/transitions.js'

const never = Number.POSITIVE_INFINITY
const idle: EngineState = { phase: 'idle', op: 1 }
const heartbeat = { method: 'renew', sentAt: 500, limitAt: 700 } as const

describe('the next wake-up of a lease', () => {
  it.each<[string, EngineState, number]>([
    ['never comes where it is idle', idle, never],
    ['is at the time limit of a claim', acquiring({ retryAt: 5 }), 1_000],
    ['is when it is to be asked for again', acquiring({ call: undefined, retryAt: 5 }), 5],
    ['is at the end of validity', held({ heartbeatAt: 20_000 }), 9_875],
    ['is at the next heartbeat', held({ heartbeatAt: 600 }), 600],
    ['is at the time limit of a heartbeat', held({ heartbeatAt: 500, call: heartbeat }), 700],
    ['is at the time limit of a release', releasing({ limitAt: 900, retryAt: 5 }), 900],
    ['is when a release is to be repeated', releasing({ limitAt: 900, retryAt: 5, call: undefined }), 5],
    [
      'never comes while a release waits for those of its children',
      releasing({ limitAt: never, call: undefined }),
      never,
    ],
  ])('%s', (_, state, at) => {
    expect(wakeAt(state)).toBe(at)
  })
})

describe('a request that is due may be delayed', () => {
  it.each<[string, EngineState, number | undefined]>([
    ['while it is not late', held({ heartbeatAt: 600 }), 600 + 300],
    ['while the lease is valid', held({ heartbeatAt: 600, validUntil: 800 }), 800],
    ['in jeopardy until the end of validity', held({ phase: 'jeopardy', heartbeatAt: 100 }), 9_875],
    ['until the end of validity when it is late', held({ heartbeatAt: 400 }), 9_875],
    ['not when validity is over', held({ heartbeatAt: 400, validUntil: 700 }), undefined],
    ['not before it is due', held({ heartbeatAt: 701 }), undefined],
    ['not when it is under way', held({ heartbeatAt: 600, call: heartbeat }), undefined],
    ['not with an update', held({ heartbeatAt: 600, update: { a: '1' } }), undefined],
    ['not when it sets our own ttl', held({ heartbeatAt: 600, hasOtherTtl: true }), undefined],
    ['not while a claim is not due', acquiring({ call: undefined, retryAt: 701 }), undefined],
    ['not while a claim is under way', acquiring({ retryAt: 600 }), undefined],
    ['not while it is released', releasing({ call: undefined }), undefined],
    ['as a claim may, for as long as its caller waits', acquiring({ call: undefined, retryAt: 700 }), never],
  ])('%s', (_, state, until) => {
    expect(delayedUntil(state, 300, 700)).toBe(until)
  })
})

describe('an answer is expected', () => {
  it('if its call is the last and in progress', () => {
    expect(awaits(acquiring(), 1)).toBe(true)
    expect(awaits(acquiring(), 2)).toBe(false)
    expect(awaits(acquiring({ call: undefined }), 1)).toBe(false)
    expect(awaits(idle, 1)).toBe(false)
  })
})

describe('the time limit of the call under way', () => {
  it.each<[string, EngineState, number]>([
    ['is that of a claim', acquiring(), 1_000],
    ['is that of a heartbeat', held({ call: heartbeat }), 700],
    ['is that of the whole release', releasing({ limitAt: 900 }), 900],
    ['does not exist without a call', held({ heartbeatAt: 600 }), never],
    ['does not exist for an idle lease', idle, never],
  ])('%s', (_, state, at) => {
    expect(limitOf(state)).toBe(at)
  })
})

describe('the time limit of a heartbeat', () => {
  it.each<[string, EngineState, boolean]>([
    ['is that of an operation', held({ call: heartbeat }), true],
    ['is earlier where the validity ends', held({ call: heartbeat, validUntil: 700 }), false],
    ['is earlier by its strategy', held({ call: { ...heartbeat, limitAt: 699 } }), false],
    ['is over where it was noticed late', held({ call: { ...heartbeat, isOverdue: true } }), false],
    ['is not that of an update', held({ call: { ...heartbeat, method: 'update' } }), false],
    ['does not exist while none is under way', held(), false],
    ['does not exist for a claim', acquiring(), false],
  ])('%s', (_, state, isUsual) => {
    expect(hasUsualLimit(state, 200)).toBe(isUsual)
  })
})
