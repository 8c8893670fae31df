import type { LeaseRecord, LeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { expect, it, vi } from 'vitest'
import { watchForTurn } from '../../src/engine/turn-watch.js'
import { rules } from '../support/rules.js'
import { recordOf, ScriptedStore } from '../support/scripted-store.js'
import { longest } from '../support/transitions.js'

it.each([false, true])(
  'a turn watch passes on the holder that the store yields, if the store has no queue (queue: %s)',
  async (ordered) => {
    const clock = new VirtualClock()
    const records = (['leased', 'breaking', 'expired', 'broken', 'available'] as const).map((state) =>
      recordOf({ state, remaining: 7 }),
    )
    const store: LeaseStore = new ScriptedStore()
    store.watch = async function* () {
      yield* records
    }
    const onTurn = vi.fn((_holder?: LeaseRecord): void => {})
    const stop = watchForTurn({ ...rules, ordered }, store, { clock, random: longest }, 'mine', onTurn)
    await clock.settle()
    const holders = ordered ? [undefined, undefined] : records.slice(0, 2)
    expect(onTurn.mock.calls.map(([holder]) => holder)).toEqual([...holders, undefined, undefined, undefined])
    expect(clock.pending).toBe(1)
    stop()
    expect(clock.pending).toBe(0)
  },
)
