import { describe, expect, it } from 'vitest'
import { KeptSlots } from '../src/kept-slots.js'

describe('the slot of a kept grant', () => {
  it('has the instants of the heartbeats that were confirmed, each of its kind', () => {
    const slots = new KeptSlots()
    const slot = slots.take()
    expect([slots.ownAt(slot), slots.passedAt(slot)]).toEqual([0, 0])
    slots.confirm(slot, 1_000.25, true)
    slots.confirm(slot, 2_000.5, false)
    expect([slots.ownAt(slot), slots.passedAt(slot)]).toEqual([1_000.25, 2_000.5])
  })

  it('notes the silence of the user until a heartbeat is confirmed, and a refusal for ever', () => {
    const slots = new KeptSlots()
    const slot = slots.take()
    slots.noteSilence(slot)
    expect([slots.isUnresponsive(slot), slots.isRefused(slot)]).toEqual([true, false])
    slots.confirm(slot, 1, false)
    expect(slots.isUnresponsive(slot)).toBe(false)
    slots.refuse(slot)
    slots.noteSilence(slot)
    slots.confirm(slot, 2, true)
    expect([slots.isUnresponsive(slot), slots.isRefused(slot)]).toEqual([false, true])
  })

  it('is seen by another thread that has the memory, also if it came later', () => {
    const slots = new KeptSlots()
    const others = new KeptSlots(slots.memory)
    const taken = Array.from({ length: 5_000 }, () => slots.take())
    expect(new Set(taken).size).toBe(5_000)
    others.confirm(4_999, 7, true)
    expect(slots.ownAt(4_999)).toBe(7)
    slots.end(4_999)
    expect(others.isEnded(4_999)).toBe(true)
  })

  it('is empty when it is taken again', () => {
    const slots = new KeptSlots()
    const slot = slots.take()
    slots.confirm(slot, 1, true)
    slots.refuse(slot)
    slots.end(slot)
    slots.giveBack(slot)
    expect(slots.take()).toBe(slot)
    expect([slots.ownAt(slot), slots.isRefused(slot), slots.isEnded(slot)]).toEqual([0, false, false])
  })
})
