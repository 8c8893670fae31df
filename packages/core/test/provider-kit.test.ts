import { LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { inRounds, MessageListeners, pause, RecentMap, untilAborted } from '@leasehold/core/store-kit'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

describe('inRounds', () => {
  it('repeats until a round has an outcome', async () => {
    const outcomes = [undefined, undefined, false, true]
    expect(await inRounds('job', {}, async () => outcomes.shift())).toBe(false)
    expect(outcomes).toEqual([true])
  })

  it('rejects after the last round, with the details', async () => {
    let rounds = 0
    const countRound = async () => {
      rounds += 1
      return undefined
    }
    const trying = inRounds('job', { store: 'toy' }, countRound, 3)
    await expect(trying).rejects.toThrow("'job' was written by others 3 times in a row: try again")
    await expect(trying).rejects.toBeInstanceOf(LeaseUnavailableError)
    await expect(trying).rejects.toMatchObject({ store: 'toy' })
    expect(rounds).toBe(3)
  })
})

describe('pause', () => {
  it('ends after the duration, and leaves no listener', async () => {
    const clock = new VirtualClock()
    const call = new AbortableCall()
    const paused = pause(clock, 100, call)
    await clock.advance(100)
    await paused
    expect(call.listeners).toBe(0)
  })

  it('rejects with the reason of an abort, also of an earlier one, and leaves no timer', async () => {
    const clock = new VirtualClock()
    const call = new AbortableCall()
    const reason = new Error('given up')
    const paused = pause(clock, 100, call)
    call.abort(reason)
    await expect(paused).rejects.toBe(reason)
    await expect(pause(clock, 100, call)).rejects.toBe(reason)
    expect(clock.pending).toBe(0)
  })
})

describe('RecentMap', () => {
  it('drops the entry that was set first, and keeps one that was set again', () => {
    const map = new RecentMap<number>(2)
    map.set('a', 1).set('b', 2).set('a', 3).set('c', 4)
    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ])
  })
})

describe('untilAborted', () => {
  it('rejects with the reason of an abort that comes first, and leaves no listener', async () => {
    const call = new AbortableCall()
    const reason = new Error('given up')
    const waiting = untilAborted(new Promise(() => {}), call)
    call.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    const done = new AbortableCall()
    expect(await untilAborted(Promise.resolve(7), done)).toBe(7)
    await Promise.resolve()
    expect(done.listeners).toBe(0)
  })
})

describe('MessageListeners', () => {
  it('yields after each message, once for several, and keeps one that comes before its listener', async () => {
    const messages = new MessageListeners(new VirtualClock())
    const call = new AbortableCall()
    messages.notify('turn a')
    messages.notify('turn b')
    const turns = messages.listen('turn a', call)
    expect(await turns.next()).toMatchObject({ done: false })
    const next = turns.next()
    messages.notify('turn a')
    messages.notifyAll()
    expect(await next).toMatchObject({ done: false })
    const last = turns.next()
    call.abort(new Error('given up'))
    expect(await last).toMatchObject({ done: true })
    expect([messages.size, call.listeners]).toEqual([0, 0])
  })

  it('sets far alarms to instants that those of other messages have as well', async () => {
    const clock = new VirtualClock()
    const messages = new MessageListeners(clock)
    const heard: number[] = []
    const call = new AbortableCall()
    const hear = async (message: string): Promise<void> => {
      for await (const _ of messages.listen(message, call)) heard.push(clock.now())
    }
    const hearing = ['turn a', 'turn b', 'turn c'].map(hear)
    messages.setAlarm('turn a', 119_940)
    messages.setAlarm('turn b', 119_995)
    messages.setAlarm('turn c', 120_000)
    await clock.advance(130_000)
    expect(heard).toEqual([120_000, 120_000, 120_064])
    call.abort()
    await Promise.all(hearing)
  })

  it('sets one alarm for a message, which can be cancelled', async () => {
    const clock = new VirtualClock()
    const messages = new MessageListeners(clock)
    const turns = messages.listen('turn a', new AbortableCall())
    let count = 0
    const counting = (async () => {
      for await (const _ of turns) count += 1
    })()
    messages.setAlarm('turn a', 50)
    messages.setAlarm('turn a', 100)
    await clock.advance(90)
    expect(count).toBe(0)
    await clock.advance(20)
    expect(count).toBe(1)
    messages.setAlarm('turn a', 100)
    messages.cancelAlarm('turn a')
    messages.setAlarm('turn a', Number.POSITIVE_INFINITY)
    await clock.advance(1_000)
    expect([count, clock.pending]).toEqual([1, 0])
    messages.setAlarm('turn a', 100)
    messages.close()
    await counting
    expect([count, clock.pending]).toEqual([1, 0])
  })

  it('registers again after each pause, and yields what is due then, until the watch ends', async () => {
    const clock = new VirtualClock()
    const messages = new MessageListeners(clock)
    const call = new AbortableCall()
    const registrations: { readonly at: number; readonly of: AbortableCall; answer(isDue: boolean): void }[] = []
    const register = (of: StoreCall) =>
      new Promise<boolean>((answer) => {
        registrations.push({ at: clock.now(), of: of as AbortableCall, answer })
      })
    const heard: number[] = []
    const hearing = (async () => {
      for await (const _ of messages.listenRegistered('free a', call, () => 100, register)) heard.push(clock.now())
    })()
    await clock.advance(10)
    registrations[0]?.answer(false)
    messages.notify('free a')
    await clock.advance(100)
    registrations[1]?.answer(true)
    await clock.advance(100)
    expect(registrations.map(({ at, of }) => [at, of.timeout, of.aborted])).toEqual([
      [0, 100, true],
      [100, 100, true],
      [200, 100, false],
    ])
    expect(heard).toEqual([10, 110])
    call.abort()
    await hearing
    expect([registrations.at(-1)?.of.aborted, clock.pending, messages.size]).toEqual([true, 0, 0])
  })

  it('registers again after a failure', async () => {
    const clock = new VirtualClock()
    const messages = new MessageListeners(clock)
    const call = new AbortableCall()
    let count = 0
    const register = async (): Promise<boolean> => {
      count += 1
      if (count === 1) throw new Error('no connection')
      return true
    }
    const watch = messages.listenRegistered('free a', call, () => 100, register)
    const next = watch.next()
    await clock.advance(100)
    expect([await next, count]).toEqual([{ done: false, value: undefined }, 2])
    call.abort()
    await watch.return(undefined)
  })
})
