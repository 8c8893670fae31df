import { type LeaseStore, LeaseTimeoutError, LeaseUnauthorisedError } from '@leasehold/core'
import { describe, expect, it, vi } from 'vitest'
import { Claim } from '../../src/engine/claims.js'
import { INTERVAL, LIMIT, TTL, VALIDITY } from '../support/held-lease.js'
import { ONCE, setUpEngine, silentWatch } from '../support/scripted-engine.js'
import { recordOf } from '../support/scripted-store.js'
import { grant } from '../support/transitions.js'

const reset = new Error('reset')
const refusal = { granted: false, holder: recordOf() }

describe('the engine of a lease, asked to claim', () => {
  it('is quiet at first, and while it holds nothing and nobody waits', async () => {
    const { store, engine, claim } = setUpEngine()
    expect(engine.isQuiet).toBe(true)
    expect(engine.state).toEqual({ phase: 'idle', op: 0 })
    const { promise } = claim()
    expect(engine.isQuiet).toBe(false)
    store.last('acquire').answer(refusal)
    expect(await promise).toBe(false)
    expect(engine.isQuiet).toBe(true)
  })

  it('tells the callbacks of all who shared the attempt, in their order', async () => {
    const { clock, store, told, claim } = setUpEngine()
    const [a, b] = [vi.fn(), vi.fn()]
    claim(ONCE, a)
    claim()
    claim(ONCE, b)
    store.last('acquire').answer('yes')
    await clock.settle()
    expect(told).toEqual([{ type: 'granted', grant: expect.anything(), onLost: [a, b] }])
  })

  it('tells no callbacks where there are none', async () => {
    const { hold, told } = setUpEngine()
    await hold()
    expect(told).toMatchObject([{ type: 'granted', onLost: [] }])
  })

  it('asks once more for one who tries once while others wait for the next attempt, and only then', async () => {
    const { clock, store, claim } = setUpEngine()
    claim(TTL)
    claim()
    expect(store.count('acquire')).toBe(1)
    store.last('acquire').answer(refusal)
    await clock.settle()
    claim(TTL)
    expect(store.count('acquire')).toBe(1)
    claim()
    expect(store.count('acquire')).toBe(2)
  })

  it('keeps a place in the queue from when one of the callers waits, where the store is ordered', async () => {
    const { clock, store, claim } = setUpEngine({ ordered: true })
    claim()
    expect(store.last('acquire').queue).toBe(false)
    claim(TTL)
    store.last('acquire').answer(refusal)
    await clock.advance(LIMIT)
    expect(store.last('acquire').queue).toBe(true)
  })

  it('keeps none where the store is not ordered', async () => {
    const { clock, store, claim } = setUpEngine()
    claim(TTL)
    claim(TTL)
    expect(store.last('acquire').queue).toBe(false)
    store.last('acquire').answer(refusal)
    await clock.advance(LIMIT)
    expect(store.last('acquire').queue).toBe(false)
  })

  it('forgets who gives up, and gives up when nobody is left', async () => {
    const { clock, store, engine, claim } = setUpEngine()
    const [a, b] = [claim(TTL), claim(TTL)]
    engine.unclaim(a)
    expect(engine.state.phase).toBe('acquiring')
    expect(store.last('acquire').signal.aborted).toBe(false)
    engine.unclaim(b)
    expect(engine.state.phase).toBe('idle')
    expect(store.calls[0]?.signal.aborted).toBe(true)
    await clock.settle()
    expect(store.last('read')).toBeDefined()
  })

  it('adopts what the first caller was handed, and claims for itself the next time', async () => {
    const { clock, store, engine, claim } = setUpEngine()
    const first = new Claim(ONCE, {})
    engine.claim(first, grant)
    expect(store.last('change').grantId).not.toBe('mine')
    store.last('change').answer({ granted: false })
    expect(await first.promise).toBe(false)
    await clock.settle()
    claim()
    expect(store.last('acquire')).toBeDefined()
  })

  it('begins for who came while something else was still to be taken back, and not where he gave up', async () => {
    const { clock, store, engine, claim, sent } = setUpEngine()
    engine.unclaim(claim())
    const [gone, waiting] = [claim(), claim()]
    engine.unclaim(gone)
    await clock.settle()
    expect(sent()).toEqual(['acquire', 'read'])
    engine.unclaim(waiting)
    store.last('read').answer(undefined)
    await clock.settle()
    expect(sent()).toEqual(['acquire', 'read'])
    expect(engine.isQuiet).toBe(true)
  })

  it('begins once for two who came meanwhile, also where the store could not say what was left', async () => {
    const { clock, store, engine, claim, sent } = setUpEngine()
    engine.unclaim(claim())
    claim()
    claim()
    await clock.settle()
    store.last('read').fail(reset)
    await clock.settle()
    expect(sent()).toEqual(['acquire', 'read', 'acquire'])
  })
})

describe('the engine of a lease, where a claim fails', () => {
  it('tells those whose time is up; the others go on waiting', async () => {
    const { clock, store, engine, claim } = setUpEngine()
    const [hasty, patient] = [claim(), claim(TTL)]
    const failed = expect(hasty.promise).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(LIMIT)
    await failed
    expect(engine.state.phase).toBe('acquiring')
    await clock.advance(LIMIT)
    store.last('acquire').answer('yes')
    expect(await patient.promise).toBe(true)
  })

  it('tells all of them where it is definitive', async () => {
    const { store, engine, claim } = setUpEngine()
    const error = new LeaseUnauthorisedError('no')
    const both = [claim().promise, claim(TTL).promise]
    store.last('acquire').fail(error)
    expect(await Promise.allSettled(both)).toEqual(Array(2).fill({ status: 'rejected', reason: error }))
    expect(engine.isQuiet).toBe(true)
  })

  it('tells each at the instant at which its time is up: false where the last answer was a refusal', async () => {
    const { clock, store, engine, claim } = setUpEngine()
    const [first, second] = [claim(30), claim(40)]
    const order: unknown[] = []
    void first.promise.then((granted) => order.push(['first', granted, clock.now()]))
    void second.promise.then((granted) => order.push(['second', granted, clock.now()]))
    store.last('acquire').answer(refusal)
    await clock.advance(100)
    expect(order).toEqual([
      ['first', false, 30],
      ['second', false, 40],
    ])
    expect(engine.isQuiet).toBe(true)
    expect(clock.pending).toBe(0)
  })

  it('tells each at the instant at which its time is up: the failure where the last answer was one', async () => {
    const { clock, store, claim } = setUpEngine()
    const failed = expect(claim(30).promise).rejects.toMatchObject({ cause: reset })
    store.last('acquire').fail(reset)
    await clock.settle()
    store.last('read').fail(new Error('still down'))
    await clock.advance(30)
    await failed
  })

  it('lets a call go on that is under way when the time of a caller is up', async () => {
    const { clock, store, claim } = setUpEngine()
    const { promise } = claim(30)
    await clock.advance(40)
    store.last('acquire').answer('yes')
    expect(await promise).toBe(true)
  })

  it('abandons all claims: false where what may have been granted is gone, and the failure where that is unknown', async () => {
    const { clock, store, engine, claim } = setUpEngine()
    const settled = claim(TTL)
    const abandoned = engine.abandon()
    await clock.settle()
    store.last('read').answer(undefined)
    await abandoned
    expect(await settled.promise).toBe(false)
    const unsettled = claim(TTL)
    const failing = engine.abandon()
    await clock.settle()
    for (const call of store.calls) call.fail(reset)
    await expect(failing).rejects.toBe(reset)
    await expect(unsettled.promise).rejects.toBe(reset)
  })
})

describe('the engine of a lease, told of a grant after its call was given up', () => {
  it('takes it back where nothing is claimed or another is held', async () => {
    const { clock, store, claim } = setUpEngine()
    const first = claim()
    const failed = expect(first.promise).rejects.toBeInstanceOf(LeaseTimeoutError)
    const late = store.last('acquire')
    await clock.advance(LIMIT)
    await failed
    store.last('read').answer(undefined)
    claim()
    await clock.settle()
    const second = store.last('acquire')
    second.answer('yes')
    await clock.settle()
    late.answer('yes')
    await clock.settle()
    expect(store.last('release').grantId).toBe(late.grantId)
    expect(late.grantId).not.toBe(second.grantId)
  })

  it('takes nothing back where the same claim goes on, or is held by now', async () => {
    const { clock, store, engine, claim } = setUpEngine()
    claim(TTL)
    const [first] = store.calls
    await clock.advance(LIMIT + INTERVAL / 20)
    const second = store.last('acquire')
    await clock.advance(LIMIT + INTERVAL / 10)
    const third = store.last('acquire')
    expect(third).not.toBe(second)
    first?.answer('yes')
    await clock.settle()
    third.answer('yes')
    await clock.settle()
    expect(engine.state.phase).toBe('held')
    second.answer('yes')
    await clock.settle()
    expect(store.count('release')).toBe(0)
  })
})

describe('the engine of a lease that is held', () => {
  it('tells its strategy how long heartbeats took, and how long those that failed were given', async () => {
    const { clock, store, hold, observe, told } = setUpEngine()
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

  it('tells its strategy nothing of a heartbeat that is only late', async () => {
    const { clock, hold, observe, told } = setUpEngine()
    await hold()
    clock.block(INTERVAL + LIMIT + 1)
    await clock.settle()
    expect(told.at(-1)).toMatchObject({ type: 'jeopardy', cause: undefined })
    expect(observe).not.toHaveBeenCalled()
  })

  it('has one timer, for whatever comes next', async () => {
    const { clock, store, hold, engine } = setUpEngine()
    await hold()
    expect(clock.pending).toBe(1)
    for (let beat = 0; beat < 3; beat += 1) {
      await clock.advance(INTERVAL)
      expect(clock.pending).toBe(1)
      store.last('renew').answer('yes')
      await clock.settle()
      expect(clock.pending).toBe(1)
    }
    engine.dispatch({ type: 'release' })
    store.last('release').answer('yes')
    await clock.settle()
    expect(clock.pending).toBe(0)
  })

  it('leaves an earlier timer to run, and arms none twice for the same instant', async () => {
    const { clock, store, hold } = setUpEngine()
    const schedule = vi.spyOn(clock, 'schedule')
    await hold()
    await clock.advance(INTERVAL)
    schedule.mockClear()
    // The heartbeat is answered, and the timer of its time limit is left to run: the next is due at that very instant.
    store.last('renew').answer('yes')
    await clock.settle()
    expect(schedule.mock.calls.filter(([delay]) => delay > 0)).toEqual([])
    await clock.advance(INTERVAL)
    expect(store.count('renew')).toBe(2)
  })

  it('brings heartbeats to the common steps of a store that renews many, with its time limit', async () => {
    const renewMany = vi.fn(async () => [{ renewed: true } as const])
    const { clock, store, hold, told } = setUpEngine({ renewMany })
    clock.block(5)
    await hold()
    // Steps of 16 ms for an interval of 1 s: 1,005 is brought forward to 992.
    await clock.advance(986)
    expect(renewMany).not.toHaveBeenCalled()
    await clock.advance(1)
    await clock.settle()
    expect(renewMany).toHaveBeenCalledOnce()
    expect(store.count('renew')).toBe(0)
    expect(told.at(-1)).toMatchObject({ type: 'renewed' })
  })

  it('is in jeopardy where a renewal of many fails, and lost where the grant is refused', async () => {
    const outcomes = [() => Promise.reject(reset), async () => [{ renewed: false, reason: 'taken' } as const]]
    const renewMany = vi.fn(() => outcomes.shift()?.() ?? expect.unreachable())
    const { clock, hold, told } = setUpEngine({ renewMany: renewMany as NonNullable<LeaseStore['renewMany']> })
    await hold()
    await clock.advance(INTERVAL)
    const cause = expect.objectContaining({ message: "heartbeat of lease 'job' failed: reset", cause: reset })
    expect(told.at(-1)).toMatchObject({ type: 'jeopardy', cause })
    await clock.advance(INTERVAL)
    expect(told.at(-1)).toMatchObject({ type: 'lost', lost: { reason: 'taken' } })
  })

  it('begins anew, when it is lost, for whoever asked meanwhile', async () => {
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

describe('the engine of a lease that waits for its turn', () => {
  it('watches while no call is under way, for its place in the queue, until it is granted', async () => {
    const { watch, places, signals } = silentWatch()
    const { clock, store, claim } = setUpEngine({ watch, ordered: true })
    const { promise } = claim(Number.POSITIVE_INFINITY)
    await clock.settle()
    expect(places).toEqual([])
    const { grantId, answer } = store.last('acquire')
    answer(refusal)
    await clock.settle()
    expect(places).toEqual([grantId])
    await clock.advance(TTL)
    store.last('acquire').answer(refusal)
    await clock.settle()
    expect(places.length).toBe(1)
    expect(signals[0]?.aborted).toBe(false)
    await clock.advance(TTL)
    store.last('acquire').answer('yes')
    expect(await promise).toBe(true)
    expect(signals[0]?.aborted).toBe(true)
  })

  it('watches for no place where the store has no queue, and again for the next claim', async () => {
    const { watch, places } = silentWatch()
    const { clock, store, engine, claim } = setUpEngine({ watch })
    for (let count = 0; count < 2; count += 1) {
      const waiting = claim(Number.POSITIVE_INFINITY)
      store.last('acquire').answer(refusal)
      await clock.settle()
      engine.unclaim(waiting)
      await clock.settle()
    }
    expect(places).toEqual([undefined, undefined])
  })
})
