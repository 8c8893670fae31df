import type { LeaseStore } from '@leasehold/core'
import type { RenewOutcome } from '@leasehold/core/store'
import { describe, expect, it, vi } from 'vitest'
import { heldIn } from '../../src/engine/engine-state.js'
import { ARMED, INTERVAL, LIMIT, VALIDITY } from '../support/held-lease.js'
import { setUpEngine } from '../support/scripted-engine.js'

const reset = new Error('reset')

/** The first heartbeat of a grant, too, is sent exactly after `INTERVAL`. */
const sharp = { random: () => 0 }

describe('the engine of a held lease', () => {
  it('reports the latency of heartbeats to the strategy, and the time limit of failed ones', async () => {
    const { clock, store, hold, observe, told } = setUpEngine({}, sharp)
    await hold()
    expect(observe).not.toHaveBeenCalled()
    await clock.advance(INTERVAL + 40)
    store.last('renew').answer('yes')
    await clock.settle()
    expect(observe.mock.calls).toEqual([[40]])
    await clock.advance(INTERVAL - 40 + 70)
    store.last('renew').fail(reset)
    await clock.settle()
    expect(observe.mock.calls).toEqual([[40], [70]])
    expect(told.map(({ type }) => type)).toEqual(['granted', 'renewed', 'jeopardy'])
  })

  it('reports nothing to the strategy about a heartbeat that is only late', async () => {
    const { clock, hold, observe, told } = setUpEngine()
    await hold()
    clock.block(INTERVAL + LIMIT + 1)
    await clock.settle()
    expect(told.at(-1)).toMatchObject({ type: 'jeopardy', cause: undefined })
    expect(observe).not.toHaveBeenCalled()
  })

  it('has one timer, for the next event', async () => {
    const { clock, store, hold, engine } = setUpEngine()
    await hold()
    expect(clock.pending).toBe(1)
    for (let beat = 0; beat < 3; beat += 1) {
      await clock.advance(INTERVAL - (beat === 0 ? 0 : ARMED))
      expect(clock.pending).toBe(1)
      store.last('renew').answer('yes')
      await clock.advance(ARMED)
      expect(clock.pending).toBe(1)
    }
    engine.dispatch({ type: 'release' })
    store.last('release').answer('yes')
    await clock.advance(ARMED)
    expect(clock.pending).toBe(0)
  })

  it('keeps an earlier timer, and sets no second timer for the same time', async () => {
    const { clock, store, hold } = setUpEngine()
    const schedule = vi.spyOn(clock, 'schedule')
    await hold()
    await clock.advance(INTERVAL)
    schedule.mockClear()
    // The timer of the time limit keeps running after the answer, because the next heartbeat is due at the same time.
    store.last('renew').answer('yes')
    await clock.advance(ARMED)
    expect(schedule.mock.calls.filter(([delay]) => delay > ARMED)).toEqual([])
    await clock.advance(INTERVAL - ARMED)
    expect(store.count('renew')).toBe(2)
  })

  it('aligns heartbeats to common steps if the store renews many, with its time limit', async () => {
    const renewMany = vi.fn(async () => [{ renewed: true } as const])
    const { clock, store, hold, told } = setUpEngine({ renewMany }, sharp)
    clock.block(5)
    await hold()
    // Steps of 32 ms for an interval of 1 s: 1,005 moves to 992.
    await clock.advance(986)
    expect(renewMany).not.toHaveBeenCalled()
    await clock.advance(1)
    await clock.settle()
    expect(renewMany).toHaveBeenCalledOnce()
    expect(store.count('renew')).toBe(0)
    expect(told.at(-1)).toMatchObject({ type: 'renewed' })
  })

  it('is in jeopardy when renewMany fails, and lost when the renewal is refused', async () => {
    const outcomes = [() => Promise.reject(reset), async () => [{ renewed: false, reason: 'taken' } as const]]
    const renewMany = vi.fn(() => outcomes.shift()?.() ?? expect.unreachable())
    const { clock, hold, told } = setUpEngine({ renewMany: renewMany as NonNullable<LeaseStore['renewMany']> })
    await hold()
    await clock.advance(INTERVAL)
    const cause = expect.objectContaining({ message: "renew of lease 'job' failed: reset", cause: reset })
    await clock.advance(INTERVAL)
    expect(told.slice(-2)).toMatchObject([
      { type: 'jeopardy', cause },
      { type: 'lost', lost: { reason: 'taken' } },
    ])
  })

  it('is in jeopardy when only its own renewal fails in renewMany', async () => {
    const outcomes = [async () => [reset], async () => [{ renewed: true } as const]]
    const renewMany = vi.fn(() => outcomes.shift()?.() ?? expect.unreachable())
    const { clock, hold, told } = setUpEngine({ renewMany: renewMany as NonNullable<LeaseStore['renewMany']> }, sharp)
    await hold()
    await clock.advance(INTERVAL + 50)
    const cause = expect.objectContaining({ message: "renew of lease 'job' failed: reset", cause: reset })
    expect(told.slice(-3)).toMatchObject([{ type: 'jeopardy', cause }, { type: 'renewed' }, { type: 'recovered' }])
  })

  it('does not take the late answer to one renewMany for the answer to the next', async () => {
    const answers: ((outcomes: readonly RenewOutcome[]) => void)[] = []
    const renewMany = (): Promise<readonly RenewOutcome[]> => new Promise((resolve) => answers.push(resolve))
    const { clock, engine, hold, told } = setUpEngine({ renewMany }, sharp)
    await hold()
    const { validUntil } = heldIn(engine.state) ?? expect.unreachable()
    await clock.advance(INTERVAL + LIMIT + LIMIT)
    expect(answers).toHaveLength(2)
    answers[0]?.([{ renewed: true }])
    await clock.settle()
    expect(told.at(-1)).toMatchObject({ type: 'jeopardy' })
    expect(heldIn(engine.state)?.validUntil).toBe(validUntil)
    answers[1]?.([{ renewed: true }])
    await clock.settle()
    expect(told.at(-1)).toMatchObject({ type: 'recovered' })
    expect(heldIn(engine.state)?.validUntil).toBeGreaterThan(validUntil)
  })

  it('releases the name in a microtask after the notification of the loss, and retries at its own pace', async () => {
    const { clock, store, engine, hold, told } = setUpEngine()
    await hold()
    engine.dispatch({ type: 'end', reason: 'closed' })
    expect(told.at(-1)).toMatchObject({ type: 'lost', lost: { reason: 'closed' } })
    expect(store.count('release')).toBe(0)
    await clock.settle()
    store.last('release').fail(reset)
    await clock.settle()
    engine.dispatch({ type: 'tick' })
    await clock.advance(LIMIT - 1)
    expect(store.count('release')).toBe(1)
    await clock.advance(1)
    expect(store.count('release')).toBe(2)
  })

  it('starts a new attempt after a loss for callers that acquired meanwhile', async () => {
    const { clock, store, engine, hold, claim } = setUpEngine()
    await hold()
    clock.block(VALIDITY)
    claim()
    await clock.settle()
    store.last('release').answer('yes')
    await clock.settle()
    expect(store.last('acquire')).toBeDefined()
    expect(engine.state.phase).toBe('acquiring')
  })
})

describe('the heartbeats of a batch that the store never answers', () => {
  const renewMany: LeaseStore['renewMany'] = () => new Promise(() => {})

  it('need one timer for all, fail at their time limit, and are repeated until the validity ends', async () => {
    const { clock, hold, told } = setUpEngine({ renewMany }, sharp)
    await hold()
    await clock.advance(INTERVAL)
    expect(clock.pending).toBe(1)
    // Heartbeats come a little earlier than planned, to share an instant.
    while (told.length === 1 && clock.now() < VALIDITY) await clock.advance(1)
    expect(told.at(-1)).toMatchObject({ type: 'jeopardy', begins: true, latency: LIMIT })
    await clock.advance(VALIDITY - clock.now() - 1)
    expect(told.map(({ type }) => type)).not.toContain('lost')
    await clock.advance(1)
    expect(told.at(-1)).toMatchObject({ type: 'lost', lost: { reason: 'expired' } })
  })

  it('do not outlive the validity of a lease whose time limit is later', async () => {
    const { clock, hold, told } = setUpEngine({ renewMany }, sharp)
    await hold()
    clock.block(VALIDITY - LIMIT / 2)
    await clock.settle()
    expect(told.at(-1)).toMatchObject({ type: 'jeopardy', cause: undefined })
    await clock.advance(LIMIT / 2 - 1)
    expect(told.map(({ type }) => type)).not.toContain('lost')
    await clock.advance(1)
    expect(told.at(-1)).toMatchObject({ type: 'lost' })
  })
})
