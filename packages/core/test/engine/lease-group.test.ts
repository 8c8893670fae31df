import { MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { type GroupMember, groupOf, inGroupsOf, LeaseGroup } from '../../src/engine/lease-group.js'
import { ScriptedStore } from '../support/scripted-store.js'
import { grant, longest } from '../support/transitions.js'

const member: GroupMember = {
  wakesAt: Number.POSITIVE_INFINITY,
  place: 0,
  arm: () => {},
  onTimer: () => {},
  onStoreClosed: () => {},
}

/** Leases that say when their timers are armed. */
function setUpArming() {
  const clock = new VirtualClock()
  const armed: string[] = []
  const lease = (name: string): GroupMember => {
    return {
      ...member,
      arm: () => void armed.push(name),
      onTimer: () => void armed.push(`${name} woken`),
    }
  }
  return { clock, group: new LeaseGroup(new ScriptedStore(), clock, 0), armed, lease }
}

describe('the state that leases of one store share', () => {
  it('is one group for each store and clock', () => {
    const [store, clock] = [new ScriptedStore(), new VirtualClock()]
    const group = groupOf(store, clock, longest)
    expect(groupOf(store, clock, longest)).toBe(group)
    const others = [groupOf(store, new VirtualClock(), longest), groupOf(new ScriptedStore(), clock, longest)]
    expect(new Set([group, ...others]).size).toBe(3)
    expect(groupOf(store, clock, longest)).toBe(group)
  })

  it('is that of the store for a view of the store that is made for one lease', () => {
    const [store, clock] = [new ScriptedStore(), new VirtualClock()]
    expect(groupOf(inGroupsOf(store, new ScriptedStore()), clock, longest)).toBe(groupOf(store, clock, longest))
    const frozen = Object.freeze(new ScriptedStore())
    expect(groupOf(inGroupsOf(frozen, new ScriptedStore()), clock, longest)).not.toBe(groupOf(frozen, clock, longest))
  })

  it('does not exist for a frozen store, whose leases still work', () => {
    const [store, clock] = [Object.freeze(new ScriptedStore()), new VirtualClock()]
    expect(groupOf(store, clock, longest)).not.toBe(groupOf(store, clock, longest))
  })

  it('renews together where the store can, and only there', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const outcomes: unknown[] = []
    const caller = {
      onRenewed: (_: number, outcome: unknown) => outcomes.push(outcome),
      onRenewalFailed: expect.fail,
      onTimer: expect.fail,
    }
    groupOf(store, clock, longest).renewals?.add(caller, 1, grant, 100, 100)
    await clock.settle()
    expect(outcomes).toEqual([{ renewed: false, reason: 'deleted' }])
    expect(groupOf(new ScriptedStore(), clock, longest).renewals).toBeUndefined()
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

  it('wakes all leases of a millisecond by one timer, at its end', async () => {
    const { clock, group, armed, lease } = setUpArming()
    group.wake(lease('a'), 4.25, clock)
    group.wake(lease('b'), 5, clock)
    group.wake(lease('c'), 5.5, clock)
    expect(clock.pending).toBe(2)
    await clock.advance(4)
    expect(armed).toEqual([])
    await clock.advance(1)
    expect(armed).toEqual(['a woken', 'b woken'])
    await clock.advance(1)
    expect(armed).toEqual(['a woken', 'b woken', 'c woken'])
  })

  it('wakes a lease at the last instant that was asked for, and keeps no timer for another one', async () => {
    const { clock, group, armed, lease } = setUpArming()
    const [a, b, c] = [lease('a'), lease('b'), lease('c')]
    for (const each of [a, b, c]) group.wake(each, 10, clock)
    group.wake(b, Number.POSITIVE_INFINITY, clock)
    group.wake(b, Number.POSITIVE_INFINITY, clock)
    group.wake(a, 20, clock)
    group.wake(a, 20, clock)
    expect(clock.pending).toBe(2)
    await clock.advance(10)
    expect(armed).toEqual(['c woken'])
    group.wake(a, 15, clock)
    expect(clock.pending).toBe(1)
    await clock.advance(20)
    expect(armed).toEqual(['c woken', 'a woken'])
    for (const each of [a, b, c]) group.wake(each, 50, clock)
    for (const each of [c, a, b]) group.wake(each, Number.POSITIVE_INFINITY, clock)
    expect(clock.pending).toBe(0)
  })

  it('wakes every other lease of an instant when some are to be woken later', async () => {
    const { clock, group, armed, lease } = setUpArming()
    const leases = ['a', 'b', 'c', 'd', 'e'].map(lease)
    for (const each of leases) group.wake(each, 10, clock)
    // The last one takes the place of the first, and then has to be found there.
    for (const place of [0, 4, 2]) group.wake(leases[place] ?? member, 20, clock)
    await clock.advance(10)
    expect(armed.sort()).toEqual(['b woken', 'd woken'])
    await clock.advance(10)
    expect(armed.sort()).toEqual(['a woken', 'b woken', 'c woken', 'd woken', 'e woken'])
    expect(clock.pending).toBe(0)
  })

  it('wakes a lease again that asks for the same instant when it is woken', async () => {
    const { clock, group } = setUpArming()
    let woken = 0
    const lease = {
      ...member,
      onTimer: () => {
        woken += 1
        if (woken < 3) group.wake(lease, 10, clock)
      },
    }
    group.wake(lease, 10, clock)
    await clock.advance(10)
    expect(woken).toBe(3)
    expect(clock.pending).toBe(0)
  })

  it('chooses an instant for several leases: the last multiple of a power of two before the one that was asked for', () => {
    const { clock } = setUpArming()
    const group = new LeaseGroup(new MemoryLeaseStore({ clock }), clock, 0)
    // Multiples of 32 ms for a distance of 600 ms, of 64 ms from a distance of 1,024 ms, and of 1,024 ms at the most.
    expect(group.shared(600, 0)).toBe(576)
    expect(group.shared(1_600, 1_000)).toBe(1_600)
    expect(group.shared(1_023.5, 0)).toBe(992)
    expect(group.shared(1_055, 0)).toBe(1_024)
    expect(group.shared(100_000, 0)).toBe(97 * 1_024)
    // Never later, and never now.
    expect(group.shared(15.5, 0)).toBe(15.5)
    expect(group.shared(17.5, 1)).toBe(17)
    expect(group.shared(5, 5)).toBe(5)
    expect(group.shared(4, 5)).toBe(4)
    expect(group.shared(Number.POSITIVE_INFINITY, 5)).toBe(Number.POSITIVE_INFINITY)
  })

  it('counts instants from a phase of the clock, which is drawn once and is the same for all stores', () => {
    const instantsOf = (drawn: number, at: number): readonly number[] => {
      const clock = new VirtualClock()
      const random = vi.fn(() => drawn)
      const instants = [1, 2].map(() => groupOf(new MemoryLeaseStore({ clock }), clock, random).shared(at, 0))
      expect(random).toHaveBeenCalledOnce()
      return instants
    }
    expect(instantsOf(0, 100_000)).toEqual([97 * 1_024, 97 * 1_024])
    expect(instantsOf(0.25, 100_000)).toEqual([97 * 1_024 + 256, 97 * 1_024 + 256])
    expect(instantsOf(0.999, 100_000)).toEqual([96 * 1_024 + 1_022, 96 * 1_024 + 1_022])
    // Also before the phase has come: 14 steps of 32 ms before 1,022.
    expect(instantsOf(0.999, 600)).toEqual([574, 574])
  })

  it('counts instants from a phase of its own where the clock is frozen', () => {
    const clock = Object.freeze({ now: () => 0, schedule: () => () => {} })
    const draws = [0, 0.25]
    const instants = [1, 2].map(() =>
      groupOf(new MemoryLeaseStore(), clock, () => draws.shift() as number).shared(100_000, 0),
    )
    expect(instants).toEqual([97 * 1_024, 97 * 1_024 + 256])
  })

  it('chooses another instant on the same scale for each 1,024 leases, and then one on a finer scale', () => {
    const { clock, lease } = setUpArming()
    const group = new LeaseGroup(new MemoryLeaseStore({ clock }), clock, 0)
    const chosen = new Map<number, number>()
    const choose = (leases: number): void => {
      for (let count = 0; count < leases; count += 1) {
        const instant = group.shared(1_000, 0)
        group.wake(lease('each'), instant, clock)
        chosen.set(instant, (chosen.get(instant) ?? 0) + 1)
      }
    }
    choose(3_000)
    const coarse = [
      [992, 1_024],
      [960, 1_024],
    ]
    expect([...chosen]).toEqual([...coarse, [976, 952]])
    // Where all instants have enough, nothing is brought forward.
    choose(70_000)
    expect(chosen.get(1_000)).toBeGreaterThan(1_024)
    expect([...chosen].filter(([, leases]) => leases > 1_024)).toEqual([[1_000, chosen.get(1_000)]])
    expect(Math.min(...chosen.keys())).toBe(938)
  })

  it('chooses no other instant where the store renews one lease at a time', () => {
    const { clock } = setUpArming()
    expect(new LeaseGroup(new ScriptedStore(), clock, 0).shared(600, 0)).toBe(600)
  })

  it('wakes at most 512 leases in one turn of the event loop, and none that asks for another instant meanwhile', async () => {
    const { clock, group, lease } = setUpArming()
    const turns: number[] = []
    const last = lease('last')
    let turn = 0
    const nextTurn = (): void => {
      turn += 1
      if (turn < 5) clock.schedule(0, nextTurn)
    }
    clock.schedule(10, nextTurn)
    const counted = { ...lease('each'), onTimer: () => void turns.push(turn) }
    group.wake(last, 10, clock)
    for (let count = 0; count < 1_100; count += 1) group.wake({ ...counted }, 10, clock)
    await clock.advance(9)
    expect(turns).toEqual([])
    group.wake(last, Number.POSITIVE_INFINITY, clock)
    await clock.advance(1)
    expect([1, 2, 3].map((count) => turns.filter((woken) => woken === count).length)).toEqual([512, 512, 76])
  })

  it('takes all instants together that have come, so that their heartbeats are one call', async () => {
    const { clock, group, lease } = setUpArming()
    const order: string[] = []
    for (const at of [10, 20, 30]) {
      const onTimer = (): void => {
        order.push(`lease of ${at}`)
        queueMicrotask(() => order.push('call'))
      }
      group.wake({ ...lease(''), onTimer }, at, clock)
    }
    clock.block(25)
    await clock.settle()
    expect(order).toEqual(['lease of 10', 'lease of 20', 'call', 'call'])
    await clock.advance(5)
    expect(order.slice(4)).toEqual(['lease of 30', 'call'])
  })

  it('wakes no more leases in one turn where the instants of three seconds come at once, after a blocked event loop', async () => {
    const { clock, group, lease } = setUpArming()
    const order: string[] = []
    const wake = (at: number): void => {
      group.wake({ ...lease(''), onTimer: () => order.push(`lease of ${at}`) }, at, clock)
    }
    for (let at = 3; at <= 3_000; at += 3) wake(at)
    // Comes after the timers, as an answer does that is read between them and the immediates.
    clock.schedule(3_500, () => order.push('answer'))
    clock.block(4_000)
    await clock.settle()
    const leases = Array.from({ length: 1_000 }, (_, at) => `lease of ${3 * (at + 1)}`)
    expect(order).toEqual(leases.toSpliced(512, 0, 'answer'))
    expect(clock.pending).toBe(0)
  })
})
