import { MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { contextOf, StoreContext } from '../../src/engine/store-context.js'
import { ScriptedStore } from '../support/scripted-store.js'
import { grant } from '../support/transitions.js'

/** Leases that say when their timers are armed. */
function setUpArming() {
  const clock = new VirtualClock()
  const armed: string[] = []
  const lease = (name: string) => ({ arm: () => void armed.push(name) })
  return { clock, context: new StoreContext(new ScriptedStore(), clock), armed, lease }
}

describe('what the leases of one store share', () => {
  it('is one for the store and the clock, and another for any other', () => {
    const [store, clock] = [new ScriptedStore(), new VirtualClock()]
    const context = contextOf(store, clock)
    expect(contextOf(store, clock)).toBe(context)
    const others = [contextOf(store, new VirtualClock()), contextOf(new ScriptedStore(), clock)]
    expect(new Set([context, ...others]).size).toBe(3)
    expect(contextOf(store, clock)).toBe(context)
  })

  it('renews together where the store can, and only there', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const onRenewed = vi.fn()
    contextOf(store, clock).renewals?.add({ onRenewed, onFailed: vi.fn() }, 4, grant, 100)
    await clock.settle()
    expect(onRenewed).toHaveBeenCalledWith(4, { renewed: false, reason: 'deleted' })
    expect(contextOf(new ScriptedStore(), clock).renewals).toBeUndefined()
  })

  it('arms all timers of a turn of the event loop in the next, each once', async () => {
    const { clock, context, armed, lease } = setUpArming()
    context.armSoon(lease('a'), 0)
    context.armSoon(lease('b'), 0)
    expect(armed).toEqual([])
    expect(clock.pending).toBe(1)
    await clock.settle()
    expect(armed).toEqual(['a', 'b'])
    context.armSoon(lease('c'), 0)
    await clock.settle()
    expect(armed).toEqual(['a', 'b', 'c'])
    expect(clock.pending).toBe(0)
  })

  it('arms those that have time within that time, together', async () => {
    const { clock, context, armed, lease } = setUpArming()
    context.armSoon(lease('a'), 20)
    await clock.advance(10)
    context.armSoon(lease('b'), 20)
    context.armSoon(lease('c'), 50)
    expect(clock.pending).toBe(2)
    await clock.advance(9)
    expect(armed).toEqual([])
    await clock.advance(1)
    expect(armed).toEqual(['a', 'b'])
    await clock.advance(40)
    expect(armed).toEqual(['a', 'b', 'c'])
  })
})
