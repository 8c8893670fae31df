import { type LeaseRecord, type LeaseStore, LeaseUnauthorisedError } from '@leasehold/core'
import { onSignal } from '@leasehold/core/internal'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { recordOf, ScriptedStore } from './support/scripted-store.js'
import { longest } from './support/transitions.js'

const LONGEST = 1_000

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

function setUp({ watching = true } = {}) {
  const clock = new VirtualClock()
  const watches: Watched[] = []
  const signals: number[] = []
  const store: LeaseStore = new ScriptedStore()
  if (watching) store.watch = (name, call, grantId) => listen(watches, name, call, grantId)
  const call = new AbortableCall()
  const onChange = vi.fn((_record: LeaseRecord | undefined, _isBreak: boolean): void => void signals.push(clock.now()))
  onSignal({ store, name: 'job', grantId: 'mine', longestPause: LONGEST, clock, random: longest }, call, onChange)
  return { clock, call, watches, signals, onChange, last: () => watches.at(-1) as Watched }
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

describe('the watch of a name', () => {
  it('is opened once, with the grant id of the place in the queue', async () => {
    const { clock, watches, last } = setUp()
    await clock.settle()
    expect(watches.length).toBe(1)
    expect(last()).toMatchObject({ name: 'job', grantId: 'mine' })
    expect(last().call.aborted).toBe(false)
  })

  it('passes on every value of the store', async () => {
    const { clock, signals, last } = setUp()
    await clock.settle()
    expect(signals).toEqual([])
    last().say()
    last().say()
    await clock.settle()
    expect(signals).toEqual([0, 0])
    expect(clock.pending).toBe(0)
  })

  it('passes on the record that the store yields', async () => {
    const { clock, onChange, last } = setUp()
    await clock.settle()
    const record = recordOf({ state: 'leased', remaining: 7 })
    last().show(record)
    last().say()
    await clock.settle()
    expect(onChange.mock.calls).toEqual([
      [record, false],
      [undefined, false],
    ])
  })

  it.each(['end', 'fail'] as const)('restarts after a pause when the watch comes to %s', async (how) => {
    const { clock, watches, signals, onChange, last } = setUp()
    await clock.settle()
    last()[how]()
    await clock.advance(49)
    expect([watches.length, signals.length]).toEqual([1, 0])
    await clock.advance(1)
    // A change in between is possible, so the restart counts as a value.
    expect([watches.length, signals.length]).toEqual([2, 1])
    expect(onChange.mock.calls).toEqual([[undefined, true]])
  })

  it('restarts at growing intervals until the store yields a value', async () => {
    const { clock, signals, last } = setUp()
    const fails = async (): Promise<void> => {
      await clock.settle()
      last().fail()
      const before = signals.length
      for (let step = 0; step < 100 && signals.length === before; step += 1) await clock.advance(10)
    }
    for (let failure = 0; failure < 3; failure += 1) await fails()
    expect(signals).toEqual([50, 150, 350])
    last().say()
    await clock.settle()
    await fails()
    expect(signals.slice(3)).toEqual([350, 400])
  })

  it('is tried once a minute where the store refuses it, and the pauses count as values', async () => {
    const { clock, watches, signals, last } = setUp()
    await clock.settle()
    last().refuse()
    await clock.advance(59_999)
    // The pauses grow to the longest one.
    expect(watches.length).toBe(1)
    expect(signals.length).toBeGreaterThan(59_999 / LONGEST)
    await clock.advance(LONGEST)
    expect(watches.length).toBe(2)
    last().say()
    await clock.settle()
    // It is permitted now: there are no more polls.
    const before = signals.length
    await clock.advance(600_000)
    expect(signals.length).toBe(before)
  })

  it('is not there where the store has none', async () => {
    const { clock, signals } = setUp({ watching: false })
    await clock.advance(1e6)
    expect(signals).toEqual([])
    expect(clock.pending).toBe(0)
  })

  it('starts again after an error of the code that it calls', async () => {
    const { clock, watches, onChange, last } = setUp()
    await clock.settle()
    onChange.mockImplementationOnce(() => {
      throw new Error('not a record')
    })
    last().say()
    await clock.advance(LONGEST)
    expect(watches.length).toBe(2)
  })
})

describe('the watch of a name whose call is aborted', () => {
  it('ends the watch of the store and ignores later values', async () => {
    const { clock, signals, call, last } = setUp()
    await clock.settle()
    call.abort()
    expect(last().call.aborted).toBe(true)
    last().say()
    await clock.advance(1e6)
    expect(signals).toEqual([])
    expect(clock.pending).toBe(0)
  })

  it.each(['end', 'fail'] as const)('does not restart when the watch then comes to %s', async (how) => {
    const { clock, watches, call, last } = setUp()
    await clock.settle()
    call.abort()
    last()[how]()
    await clock.advance(1e6)
    expect(watches.length).toBe(1)
    expect(clock.pending).toBe(0)
  })

  it('does not restart during the pause', async () => {
    const { clock, watches, signals, call, last } = setUp()
    await clock.settle()
    last().end()
    await clock.settle()
    expect(clock.pending).toBe(1)
    call.abort()
    expect(clock.pending).toBe(0)
    await clock.advance(1e6)
    expect([watches.length, signals.length]).toEqual([1, 0])
  })

  it('does not restart after the first value, if only that was awaited', async () => {
    const { clock, watches, onChange, call, last } = setUp()
    await clock.settle()
    last().end()
    onChange.mockImplementation(() => call.abort())
    await clock.advance(1e6)
    expect(onChange).toHaveBeenCalledOnce()
    expect(watches.length).toBe(1)
    expect(clock.pending).toBe(0)
  })
})
