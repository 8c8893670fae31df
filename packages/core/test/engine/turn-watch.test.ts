import { type LeaseRecord, type LeaseStore, LeaseUnauthorisedError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { watchForTurn } from '../../src/engine/turn-watch.js'
import { rules } from '../support/rules.js'
import { recordOf, ScriptedStore } from '../support/scripted-store.js'
import { longest } from '../support/transitions.js'

/** One `watch` of the store. The test supplies its values, its end and its failure. */
interface Watched {
  readonly name: string
  readonly call: StoreCall
  readonly grantId: string | undefined
  readonly say: () => void
  readonly show: (record: LeaseRecord) => void
  readonly end: () => void
  readonly fail: () => void
  /** Fails with an error that trying again does not cure. */
  readonly refuse: () => void
}

type Word = 'word' | 'end' | 'fail' | 'refuse'

function setUp({ watching = true, ordered = false } = {}) {
  const clock = new VirtualClock()
  const watches: Watched[] = []
  const turns: number[] = []
  const store: LeaseStore = new ScriptedStore()
  if (watching) store.watch = (name, call, grantId) => listen(watches, name, call, grantId)
  const sources = { clock, random: longest }
  const onTurn = vi.fn((_holder?: LeaseRecord): void => void turns.push(clock.now()))
  const stop = watchForTurn({ ...rules, ordered }, store, sources, 'mine', onTurn)
  return { clock, watches, turns, onTurn, stop, last: () => watches.at(-1) as Watched }
}

async function* listen(watches: Watched[], name: string, call: StoreCall, grantId: string | undefined) {
  const words: (Word | LeaseRecord)[] = []
  let wake = (): void => {}
  const show = (word: Word | LeaseRecord): void => {
    words.push(word)
    wake()
  }
  const hear = (word: Word) => () => show(word)
  const said = { say: hear('word'), end: hear('end'), fail: hear('fail'), refuse: hear('refuse') }
  watches.push({ name, call, grantId, show, ...said })
  while (true) {
    const word = words.shift()
    if (word === 'end') return
    if (word === 'fail') throw new Error('reset')
    if (word === 'refuse') throw new LeaseUnauthorisedError('not permitted')
    if (word !== undefined) yield word === 'word' ? undefined : word
    else {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}

describe('a turn watch', () => {
  it('watches the name with the grant id of the place in the queue', async () => {
    const { clock, watches, last } = setUp()
    await clock.settle()
    expect(watches.length).toBe(1)
    expect(last()).toMatchObject({ name: 'job', grantId: 'mine' })
    expect(last().call.aborted).toBe(false)
  })

  it('passes on every value of the store', async () => {
    const { clock, turns, last } = setUp()
    await clock.settle()
    expect(turns).toEqual([])
    last().say()
    last().say()
    await clock.settle()
    expect(turns).toEqual([0, 0])
    expect(clock.pending).toBe(0)
  })

  it('passes on the holder that the store yields, if the store has no queue', async () => {
    const records = (['leased', 'breaking', 'expired', 'broken', 'available'] as const).map((state) =>
      recordOf({ state, remaining: 7 }),
    )
    for (const ordered of [false, true]) {
      const { clock, onTurn, last } = setUp({ ordered })
      await clock.settle()
      for (const record of records) last().show(record)
      await clock.settle()
      const holders = ordered ? [undefined, undefined] : records.slice(0, 2)
      expect(onTurn.mock.calls.map(([holder]) => holder)).toEqual([...holders, undefined, undefined, undefined])
    }
  })

  it.each(['end', 'fail'] as const)('restarts after a pause when the watch comes to %s', async (how) => {
    const { clock, watches, turns, last } = setUp()
    await clock.settle()
    last()[how]()
    await clock.advance(49)
    expect([watches.length, turns.length]).toEqual([1, 0])
    await clock.advance(1)
    // A change in between is possible, so the restart counts as a value.
    expect([watches.length, turns.length]).toEqual([2, 1])
  })

  it('restarts at growing intervals until the store yields a value', async () => {
    const { clock, turns, last } = setUp()
    const fails = async (): Promise<void> => {
      await clock.settle()
      last().fail()
      const before = turns.length
      while (turns.length === before) await clock.advance(10)
    }
    for (let failure = 0; failure < 3; failure += 1) await fails()
    expect(turns).toEqual([50, 150, 350])
    last().say()
    await clock.settle()
    await fails()
    expect(turns.slice(3)).toEqual([350, 400])
  })

  it('makes the waiter poll where the store refuses the watch, and tries the watch once a minute', async () => {
    const { clock, watches, turns, last } = setUp()
    await clock.settle()
    last().refuse()
    await clock.advance(59_999)
    // The pauses grow to half of the heartbeat interval.
    expect(watches.length).toBe(1)
    expect(turns.length).toBeGreaterThan(59_999 / rules.heartbeatInterval)
    await clock.advance(rules.heartbeatInterval)
    expect(watches.length).toBe(2)
    last().say()
    await clock.settle()
    // It is permitted now: there are no more polls.
    const before = turns.length
    await clock.advance(600_000)
    expect(turns.length).toBe(before)
  })

  it('repeats the call at growing intervals when the store returns no watch', async () => {
    const { clock, turns } = setUp({ watching: false })
    await clock.advance(400)
    expect(turns).toEqual([50, 150, 350])
  })
})

describe('a turn watch that is stopped', () => {
  it('ends the watch of the store and ignores later values', async () => {
    const { clock, turns, stop, last } = setUp()
    await clock.settle()
    stop()
    expect(last().call.aborted).toBe(true)
    last().say()
    await clock.advance(1e6)
    expect(turns).toEqual([])
    expect(clock.pending).toBe(0)
  })

  it.each(['end', 'fail'] as const)('does not restart when the watch then comes to %s', async (how) => {
    const { clock, watches, stop, last } = setUp()
    await clock.settle()
    stop()
    last()[how]()
    await clock.advance(1e6)
    expect(watches.length).toBe(1)
    expect(clock.pending).toBe(0)
  })

  it('does not restart during the pause', async () => {
    const { clock, watches, turns, stop, last } = setUp()
    await clock.settle()
    last().end()
    await clock.settle()
    expect(clock.pending).toBe(1)
    stop()
    expect(clock.pending).toBe(0)
    await clock.advance(1e6)
    expect([watches.length, turns.length]).toEqual([1, 0])
  })

  it('does not restart after the first value, if only that was awaited', async () => {
    const { clock, watches, onTurn, stop, last } = setUp()
    await clock.settle()
    last().end()
    onTurn.mockImplementation(() => stop())
    await clock.advance(1e6)
    expect(onTurn).toHaveBeenCalledOnce()
    expect(watches.length).toBe(1)
    expect(clock.pending).toBe(0)
  })
})
