import { MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { groupOf, inGroupsOf, LeaseGroup } from '../../src/engine/lease-group.js'
import { ScriptedStore } from '../support/scripted-store.js'
import { grant } from '../support/transitions.js'

/** Leases that say when their timers are armed. */
function setUpArming() {
  const clock = new VirtualClock()
  const armed: string[] = []
  const lease = (name: string) => ({ arm: () => void armed.push(name), onStoreClosed: () => {} })
  return { clock, group: new LeaseGroup(new ScriptedStore(), clock), armed, lease }
}

describe('the state that leases of one store share', () => {
  it('is one group for each store and clock', () => {
    const [store, clock] = [new ScriptedStore(), new VirtualClock()]
    const group = groupOf(store, clock)
    expect(groupOf(store, clock)).toBe(group)
    const others = [groupOf(store, new VirtualClock()), groupOf(new ScriptedStore(), clock)]
    expect(new Set([group, ...others]).size).toBe(3)
    expect(groupOf(store, clock)).toBe(group)
  })

  it('is that of the store for a view of the store that is made for one lease', () => {
    const [store, clock] = [new ScriptedStore(), new VirtualClock()]
    expect(groupOf(inGroupsOf(store, new ScriptedStore()), clock)).toBe(groupOf(store, clock))
    const frozen = Object.freeze(new ScriptedStore())
    expect(groupOf(inGroupsOf(frozen, new ScriptedStore()), clock)).not.toBe(groupOf(frozen, clock))
  })

  it('does not exist for a frozen store, whose leases still work', () => {
    const [store, clock] = [Object.freeze(new ScriptedStore()), new VirtualClock()]
    expect(groupOf(store, clock)).not.toBe(groupOf(store, clock))
  })

  it('renews together where the store can, and only there', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const outcome = groupOf(store, clock).renewals?.renew(grant, 100)
    await clock.settle()
    expect(await outcome).toEqual({ renewed: false, reason: 'deleted' })
    expect(groupOf(new ScriptedStore(), clock).renewals).toBeUndefined()
  })

  it('arms all timers of a turn of the event loop in the next, each once', async () => {
    const { clock, group, armed, lease } = setUpArming()
    group.armSoon(lease('a'), 0)
    group.armSoon(lease('b'), 0)
    expect(armed).toEqual([])
    expect(clock.pending).toBe(1)
    await clock.settle()
    expect(armed).toEqual(['a', 'b'])
    group.armSoon(lease('c'), 0)
    await clock.settle()
    expect(armed).toEqual(['a', 'b', 'c'])
    expect(clock.pending).toBe(0)
  })

  it('arms leases that may wait together, at the end of the wait', async () => {
    const { clock, group, armed, lease } = setUpArming()
    group.armSoon(lease('a'), 20)
    await clock.advance(10)
    group.armSoon(lease('b'), 20)
    group.armSoon(lease('c'), 50)
    expect(clock.pending).toBe(2)
    await clock.advance(9)
    expect(armed).toEqual([])
    await clock.advance(1)
    expect(armed).toEqual(['a', 'b'])
    await clock.advance(40)
    expect(armed).toEqual(['a', 'b', 'c'])
  })
})
