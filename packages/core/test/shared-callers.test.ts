import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { Caller, SharedCallers } from '../src/lease/shared-callers.js'
import { AbortListeners } from '../src/time/abort-listeners.js'

const { end } = vi.hoisted(() => ({ end: vi.fn() }))
vi.mock('../src/time/keep-alive.js', () => ({ keepAlive: () => end }))

const ONCE = Number.NEGATIVE_INFINITY

function setUp(...ends: number[]) {
  const clock = new VirtualClock()
  const aborts = new AbortListeners()
  const attempt = { abort: vi.fn() }
  const callers = new SharedCallers(attempt)
  const controllers = ends.map(() => new AbortController())
  const each = ends.map((until, place) => {
    const caller = new Caller({ signal: (controllers[place] as AbortController).signal }, until, clock)
    callers.add(caller, aborts)
    return caller
  })
  const abort = (place: number): void => controllers[place]?.abort(`${place}`)
  return { clock, aborts, attempt, callers, each, abort }
}

describe('the callers that share an attempt', () => {
  it('are none at first', () => {
    const { callers } = setUp()
    expect(callers.isEmpty).toBe(true)
    expect(callers.waits).toBe(false)
    expect(callers.deadline).toBe(Number.POSITIVE_INFINITY)
    expect(callers.takeFirst()).toBeUndefined()
    expect(callers.takeAll()).toEqual([])
  })

  it('wait until the earliest end of a wait; callers that try once do not count', () => {
    const { callers, each } = setUp(ONCE, 500, 300, 400)
    expect(callers.isEmpty).toBe(false)
    expect(callers.waits).toBe(true)
    expect(callers.deadline).toBe(300)
    for (const caller of each.slice(1)) callers.giveUp(caller)
    expect(callers.waits).toBe(false)
    expect(callers.isEmpty).toBe(false)
    expect(callers.deadline).toBe(Number.POSITIVE_INFINITY)
  })

  it('wait until the end of a caller that comes later, if that is earlier', () => {
    const { clock, aborts, callers } = setUp(500)
    expect(callers.deadline).toBe(500)
    for (const until of [400, 600, ONCE]) callers.add(new Caller({}, until, clock), aborts)
    expect(callers.deadline).toBe(400)
  })

  it('are in the order in which they came, without those that are gone', () => {
    const { callers, each, abort } = setUp(100, 200, 300, 400)
    for (const { promise } of each) promise.catch(() => {})
    abort(1)
    expect(callers.all).toEqual([each[0], each[2], each[3]])
    expect(callers.takeFirst()).toBe(each[0])
    expect(callers.deadline).toBe(300)
    expect(callers.takeAll()).toEqual(each.slice(2))
    expect(callers.isEmpty).toBe(true)
    expect(callers.deadline).toBe(Number.POSITIVE_INFINITY)
  })

  it('can be taken out exactly at the end of their wait', () => {
    const { callers, each } = setUp(100, 201, ONCE, 200)
    expect(callers.takeDue(200)).toEqual([each[0], each[2], each[3]])
    expect(callers.deadline).toBe(201)
    expect(callers.takeDue(200)).toEqual([])
    expect(callers.takeDue(201)).toEqual([each[1]])
    expect(callers.isEmpty).toBe(true)
  })

  it('may be removed while they are iterated', () => {
    const { callers, each } = setUp(100, 200, 300)
    const seen = []
    for (const caller of callers.all) {
      seen.push(caller)
      callers.giveUp(caller)
    }
    expect(seen).toEqual(each)
  })

  it('give up when their signals abort, and the attempt with the last of them', async () => {
    const { attempt, callers, each, abort } = setUp(ONCE, 500)
    abort(1)
    await expect(each[1]?.promise).rejects.toBe('1')
    expect(callers.all).toEqual([each[0]])
    expect(attempt.abort).not.toHaveBeenCalled()
    abort(0)
    await expect(each[0]?.promise).rejects.toBe('0')
    expect(callers.isEmpty).toBe(true)
    expect(attempt.abort).toHaveBeenCalledTimes(1)
  })

  it('give up when their time is limited, and the attempt with the last of them', async () => {
    const { clock, attempt, callers, each } = setUp(Number.POSITIVE_INFINITY, 500)
    const [first, second] = each as [Caller, Caller]
    callers.limit(first, 300, clock)
    // Only the first limit counts.
    callers.limit(first, 100, clock)
    callers.limit(second, Number.POSITIVE_INFINITY, clock)
    await clock.advance(299)
    expect(callers.all).toEqual(each)
    await clock.advance(1)
    expect(await first.promise).toBe(false)
    expect(callers.all).toEqual([second])
    callers.limit(second, -1, clock)
    expect(attempt.abort).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(await second.promise).toBe(false)
    expect(attempt.abort).toHaveBeenCalledTimes(1)
  })

  it('do not end an attempt whose outcome they are given', () => {
    const { attempt, callers } = setUp(ONCE, 500, 600)
    callers.takeFirst()
    callers.takeDue(500)
    callers.takeAll()
    expect(attempt.abort).not.toHaveBeenCalled()
  })

  it('leave no listener and no timer behind, whichever way they are removed', () => {
    const { clock, aborts, callers, each } = setUp(100, 200, 300, 400)
    for (const caller of each) callers.limit(caller, 50, clock)
    const left = () => [aborts.size, clock.pending]
    expect(left()).toEqual([4, 4])
    callers.takeFirst()
    callers.takeDue(200)
    expect(left()).toEqual([2, 2])
    callers.giveUp(each[2] as Caller)
    expect(left()).toEqual([1, 1])
    callers.takeAll()
    expect(left()).toEqual([0, 0])
  })

  it('need no signal', () => {
    const { clock, aborts, callers } = setUp()
    const [first, second, third] = [ONCE, 500, 600].map((until) => new Caller({}, until, clock)) as [
      Caller,
      Caller,
      Caller,
    ]
    for (const caller of [first, second, third]) callers.add(caller, aborts)
    callers.giveUp(first)
    expect(callers.takeDue(500)).toEqual([second])
    expect(callers.takeAll()).toEqual([third])
    expect(aborts.size).toBe(0)
  })
})

describe('the outcome of a caller', () => {
  it('lets the process end, which the caller has kept alive unless it was asked not to', async () => {
    const clock = new VirtualClock()
    end.mockClear()
    const [granted, failed, other] = [{}, {}, { keepAlive: false }].map((options) => new Caller(options, ONCE, clock))
    expect(end).not.toHaveBeenCalled()
    granted?.resolve(true)
    expect(end).toHaveBeenCalledTimes(1)
    failed?.reject('down')
    expect(end).toHaveBeenCalledTimes(2)
    other?.resolve(true)
    expect(end).toHaveBeenCalledTimes(2)
    await expect(failed?.promise).rejects.toBe('down')
  })

  it('settles once, before or after it is awaited', async () => {
    const { each } = setUp(ONCE, ONCE)
    const [early, late] = each as [Caller, Caller]
    const asked = early.promise
    early.resolve(true)
    early.resolve(false)
    early.reject(new Error('late'))
    expect(await asked).toBe(true)
    late.resolve(false)
    late.resolve(true)
    late.reject(new Error('late'))
    expect(await late.promise).toBe(false)
  })

  it('may be an error, before or after it is awaited', async () => {
    const { each } = setUp(ONCE, ONCE)
    const [early, late] = each as [Caller, Caller]
    const asked = early.promise
    early.reject('down')
    await expect(asked).rejects.toBe('down')
    late.reject('down')
    late.resolve(true)
    await expect(late.promise).rejects.toBe('down')
  })
})
