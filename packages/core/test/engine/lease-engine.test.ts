import { type Grant, LeaseTimeoutError, LeaseUnauthorisedError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { describe, expect, it, vi } from 'vitest'
import { AcquireCaller } from '../../src/engine/acquire-caller.js'
import { INTERVAL, LIMIT, TTL } from '../support/held-lease.js'
import { ONCE, setUpEngine, silentWatch } from '../support/scripted-engine.js'
import { recordOf } from '../support/scripted-store.js'
import { grant } from '../support/transitions.js'

const reset = new Error('reset')
const refusal = { granted: false, holder: recordOf() }
const thrown = (): never => {
  throw reset
}

describe('the engine of a lease with claims', () => {
  it('has no timer and no call while it is idle', async () => {
    const { store, engine, claim } = setUpEngine()
    expect(engine.isQuiet).toBe(true)
    expect(engine.state).toEqual({ phase: 'idle', op: 0 })
    const { promise } = claim()
    expect(engine.isQuiet).toBe(false)
    store.last('acquire').answer(refusal)
    expect(await promise).toBe(false)
    expect(engine.isQuiet).toBe(true)
  })

  it('reports the grant with all callers that shared the attempt, in order', async () => {
    const { clock, store, told, claim } = setUpEngine()
    const callers = [claim(ONCE, vi.fn()), claim(), claim(ONCE, vi.fn())]
    store.last('acquire').answer('yes')
    await clock.settle()
    expect(told).toEqual([{ type: 'granted', grant: expect.anything(), callers }])
  })

  it('sends one more request for a caller without wait while others wait for the next attempt, and only then', async () => {
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

  it('keeps a place in the queue of an ordered store as soon as a caller waits', async () => {
    const { clock, store, claim } = setUpEngine({ ordered: true })
    claim()
    expect(store.last('acquire').queue).toBe(false)
    claim(TTL)
    store.last('acquire').answer(refusal)
    await clock.advance(LIMIT)
    expect(store.last('acquire').queue).toBe(true)
  })

  it('keeps no place when the store is not ordered', async () => {
    const { clock, store, claim } = setUpEngine()
    claim(TTL)
    claim(TTL)
    expect(store.last('acquire').queue).toBe(false)
    store.last('acquire').answer(refusal)
    await clock.advance(LIMIT)
    expect(store.last('acquire').queue).toBe(false)
  })

  it('removes a cancelled caller, and cancels the attempt without callers', async () => {
    const { clock, store, engine, claim, giveUp } = setUpEngine()
    const [a, b] = [claim(TTL), claim(TTL)]
    giveUp(a)
    expect(engine.state.phase).toBe('acquiring')
    expect(store.last('acquire').call.aborted).toBe(false)
    giveUp(b)
    expect(engine.state.phase).toBe('idle')
    expect(store.calls[0]?.call.aborted).toBe(true)
    await clock.settle()
    expect(store.last('read')).toBeDefined()
  })

  it('adopts the hand-off of the first caller, and claims by itself the next time', async () => {
    const { clock, store, engine, claim } = setUpEngine()
    const first = new AcquireCaller({}, ONCE, clock)
    engine.join(first, grant)
    expect(store.last('change').grantId).not.toBe('mine')
    store.last('change').answer({ granted: false })
    expect(await first.promise).toBe(false)
    await clock.settle()
    claim()
    expect(store.last('acquire')).toBeDefined()
  })

  it('starts for a caller that came during a cleanup, unless it has cancelled', async () => {
    const { clock, store, engine, claim, giveUp, sent } = setUpEngine()
    giveUp(claim())
    const [gone, waiting] = [claim(), claim()]
    giveUp(gone)
    await clock.settle()
    expect(sent()).toEqual(['acquire', 'read'])
    giveUp(waiting)
    store.last('read').answer(undefined)
    await clock.settle()
    expect(sent()).toEqual(['acquire', 'read'])
    expect(engine.isQuiet).toBe(true)
  })

  it('starts once for two callers that came during a cleanup, also when the cleanup failed', async () => {
    const { clock, store, claim, giveUp, sent } = setUpEngine()
    giveUp(claim())
    claim()
    claim()
    await clock.settle()
    store.last('read').fail(reset)
    await clock.settle()
    expect(sent()).toEqual(['acquire', 'read', 'acquire'])
  })
})

describe('the engine of a lease with a failed claim', () => {
  it('rejects callers at the end of their wait; the others continue to wait', async () => {
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

  it('rejects all callers when the failure is definitive', async () => {
    const { store, engine, claim } = setUpEngine()
    const error = new LeaseUnauthorisedError('no')
    const both = [claim().promise, claim(TTL).promise]
    store.last('acquire').fail(error)
    expect(await Promise.allSettled(both)).toEqual(Array(2).fill({ status: 'rejected', reason: error }))
    expect(engine.isQuiet).toBe(true)
  })

  it('settles each caller exactly at the end of its wait: false if the last answer was a refusal', async () => {
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

  it('settles each caller exactly at the end of its wait: the error if the last attempt failed', async () => {
    const { clock, store, claim } = setUpEngine()
    const failed = expect(claim(30).promise).rejects.toMatchObject({ cause: reset })
    store.last('acquire').fail(reset)
    await clock.settle()
    store.last('read').fail(new Error('still down'))
    await clock.advance(30)
    await failed
  })

  it('completes a call in progress at the end of the wait', async () => {
    const { clock, store, claim } = setUpEngine()
    const { promise } = claim(30)
    await clock.advance(40)
    store.last('acquire').answer('yes')
    expect(await promise).toBe(true)
  })

  it('reports a refusal without a holder, also during a cleanup', async () => {
    const { clock, store, claim, giveUp } = setUpEngine()
    giveUp(claim())
    const { promise } = claim()
    await clock.settle()
    store.last('read').fail(reset)
    await clock.settle()
    store.last('acquire').answer({ granted: false })
    expect(await promise).toBe(false)
  })

  it('answers all callers when it is abandoned: false if a possible grant is gone, the error if that is unknown', async () => {
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
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', cause: reset })
    await expect(unsettled.promise).rejects.toMatchObject({ code: 'unavailable', cause: reset })
  })
})

describe('the engine of a lease with a grant after its call was aborted', () => {
  it('releases the grant if there is no claim, or another grant is held', async () => {
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

  it('releases the grant if the claim has another grant id', async () => {
    const { clock, store, engine, claim, giveUp } = setUpEngine()
    giveUp(claim())
    const [late] = store.calls
    await clock.settle()
    store.last('read').answer(undefined)
    claim()
    await clock.settle()
    late?.answer('yes')
    await clock.settle()
    expect(store.last('release').grantId).toBe(late?.grantId)
    expect(engine.state.phase).toBe('acquiring')
  })

  it('releases nothing if the claim continues with the same grant id, or is held now', async () => {
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

describe('the engine of a lease with a store that reports foreign changes', () => {
  function setUpWatched() {
    const watched: { grant: Grant; call: StoreCall; change: () => void }[] = []
    const watchGrant = async function* (grant: Grant, call: StoreCall) {
      const entry = { grant, call, change: (): void => {} }
      watched.push(entry)
      for (;;) {
        await new Promise<void>((resolve) => {
          entry.change = resolve
        })
        yield
      }
    }
    return { ...setUpEngine({ watchGrant }), watched }
  }

  it('sends a heartbeat at once, and loses the lease when it is refused', async () => {
    const { clock, store, engine, told, hold, sent, watched } = setUpWatched()
    await hold()
    expect(watched).toMatchObject([{ grant: { name: 'job', grantId: expect.any(String) } }])
    for (let changes = 0; changes < 2; changes += 1) {
      await clock.advance(INTERVAL / 10)
      watched[0]?.change()
      await clock.settle()
      expect(sent().slice(1)).toEqual(Array(changes + 1).fill('renew'))
      store.last('renew').answer(changes === 0 ? 'yes' : { renewed: false, reason: 'taken' })
      await clock.settle()
    }
    expect(told.map(({ type }) => type)).toEqual(['granted', 'renewed', 'lost'])
    expect(watched[0]?.call.aborted).toBe(true)
    expect(engine.isQuiet).toBe(true)
    expect(clock.pending).toBe(0)
  })

  it('ends the watch with the grant, ignores later values, and starts another for the next grant', async () => {
    const { clock, engine, store, hold, sent, watched } = setUpWatched()
    await hold()
    engine.dispatch({ type: 'release' })
    expect(watched[0]?.call.aborted).toBe(true)
    store.last('release').answer('yes')
    await clock.settle()
    await hold()
    watched[0]?.change()
    await clock.settle()
    expect(sent()).toEqual(['acquire', 'release', 'acquire'])
    expect(watched.map(({ call }) => call.aborted)).toEqual([true, false])
  })

  it.each([
    ['throws', () => thrown()],
    ['rejects', () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(reset) }) })],
    ['ends', async function* () {}],
    ['yields nonsense', () => 7 as never],
  ])('sends heartbeats as usual when the watch %s', async (_, watchGrant) => {
    const { clock, store, engine, hold, sent } = setUpEngine({ watchGrant })
    await hold()
    await clock.advance(INTERVAL)
    store.last('renew').answer('yes')
    await clock.settle()
    expect(sent()).toEqual(['acquire', 'renew'])
    expect(engine.state.phase).toBe('held')
  })
})

describe('the engine of a waiter', () => {
  it('watches its place in the queue between calls until it is granted', async () => {
    const { watch, places, calls } = silentWatch()
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
    expect(calls[0]?.aborted).toBe(false)
    await clock.advance(TTL)
    store.last('acquire').answer('yes')
    expect(await promise).toBe(true)
    expect(calls[0]?.aborted).toBe(true)
  })

  it('watches without a place if the store has no queue, and again for the next claim', async () => {
    const { watch, places } = silentWatch()
    const { clock, store, claim, giveUp } = setUpEngine({ watch })
    for (let count = 0; count < 2; count += 1) {
      const waiting = claim(Number.POSITIVE_INFINITY)
      store.last('acquire').answer(refusal)
      await clock.settle()
      giveUp(waiting)
      await clock.settle()
    }
    expect(places).toEqual([undefined, undefined])
  })
})
