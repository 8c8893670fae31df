import { describe, expect, it } from 'vitest'
import { heldPause, outagePause, retryPause, turnPause } from '../../src/engine/pauses.js'
import { rules } from '../support/rules.js'
import { recordOf } from '../support/scripted-store.js'

const forever = Number.POSITIVE_INFINITY
const watched = { ...rules, watched: true }
const ordered = { ...watched, ordered: true }
const beatingEvery = (heartbeatInterval: number) => ({ ...rules, heartbeatInterval })

describe('the pause before a failed heartbeat is repeated', () => {
  it('is a fiftieth of the interval, 10 ms to 1 s, half of it random', () => {
    expect(retryPause(beatingEvery(5_000), 1, forever, () => 1)).toBe(100)
    expect(retryPause(beatingEvery(5_000), 1, forever, () => 0)).toBe(50)
    expect(retryPause(beatingEvery(5_000), 1, forever, () => 0.5)).toBe(75)
    expect(retryPause(beatingEvery(100), 1, forever, () => 1)).toBe(10)
    expect(retryPause(beatingEvery(500_000), 1, forever, () => 1)).toBe(1_000)
  })

  it('doubles with each failure, up to half of the interval and a quarter of the remaining validity', () => {
    expect([1, 2, 3, 4].map((failures) => retryPause(rules, failures, forever, () => 1))).toEqual([20, 40, 80, 160])
    expect(retryPause(rules, 40, forever, () => 1)).toBe(500)
    expect(retryPause(rules, 40, 800, () => 1)).toBe(200)
  })

  it('is finite for a lease without expiry and heartbeats', () => {
    expect(retryPause(beatingEvery(forever), 100_000, forever, () => 1)).toBe(1_000 * 2 ** 16)
  })
})

describe('the pause after a failed request', () => {
  it('is a twentieth of the interval, at least 20 ms, half of it random', () => {
    expect(outagePause(rules, 1, () => 1)).toBe(50)
    expect(outagePause(rules, 1, () => 0)).toBe(25)
    expect(outagePause(beatingEvery(100), 1, () => 1)).toBe(20)
  })

  it('doubles with each failure, up to the interval and at most 5 s', () => {
    expect([1, 2, 3].map((failures) => outagePause(rules, failures, () => 1))).toEqual([50, 100, 200])
    expect(outagePause(rules, 100, () => 1)).toBe(1_000)
    expect(outagePause(beatingEvery(60_000), 1, () => 1)).toBe(250)
    expect(outagePause(beatingEvery(60_000), 100, () => 1)).toBe(5_000)
  })
})

describe('the pause after the watch has shown a holder', () => {
  it('ends just after the expiry, or after a minute if that is sooner', () => {
    expect(heldPause(8_000)).toBe(8_005)
    expect(heldPause(forever)).toBe(60_000)
  })
})

describe('the pause after a refused request', () => {
  it('keeps the place in the queue if the store wakes waiters: half of the ttl, up to a minute', () => {
    expect(turnPause(watched, 1, undefined, () => 1)).toBe(5_000)
    expect(turnPause(ordered, 9, recordOf({ remaining: 1 }), () => 0)).toBe(2_500)
    expect(turnPause({ ...watched, ttl: 120_000 }, 1, undefined, () => 1)).toBe(60_000)
    expect(turnPause({ ...watched, ttl: 120_002 }, 1, undefined, () => 1)).toBe(60_000)
    expect(turnPause({ ...watched, ttl: forever }, 1, undefined, () => 1)).toBe(30_000)
  })

  it('otherwise grows by half with each refusal, from a twentieth of the interval to the interval', () => {
    expect([1, 2, 3].map((refusals) => turnPause(rules, refusals, undefined, () => 1))).toEqual([50, 75, 112.5])
    expect(turnPause(rules, 1, undefined, () => 0)).toBe(25)
    expect(turnPause(rules, 100, undefined, () => 1)).toBe(1_000)
    expect(turnPause(beatingEvery(100), 1, undefined, () => 1)).toBe(20)
    expect(turnPause(beatingEvery(60_000), 1, undefined, () => 1)).toBe(250)
    expect(turnPause(beatingEvery(60_000), 100, undefined, () => 1)).toBe(5_000)
  })

  it('ends just after the expiry if the store reports it', () => {
    expect(turnPause(rules, 100, recordOf({ remaining: 8 }), () => 1)).toBe(13)
    expect(turnPause(rules, 1, recordOf({ remaining: 8_000 }), () => 1)).toBe(50)
    expect(turnPause(watched, 1, recordOf({ remaining: 8 }), () => 1)).toBe(13)
    expect(turnPause(watched, 1, recordOf({ remaining: 8_000 }), () => 0)).toBe(2_500)
  })
})
