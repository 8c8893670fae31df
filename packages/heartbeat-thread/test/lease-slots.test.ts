import { describe, expect, it } from 'vitest'
import { LeaseSlots } from '../src/lease-slots.js'

describe('the slot of a lease', () => {
  it('has the end of the grant with its number, and of no other', () => {
    const slots = new LeaseSlots()
    const slot = slots.take()
    expect(slots.read(slot, 1)).toBe(Number.NEGATIVE_INFINITY)
    slots.write(slot, 1, 1_000.25)
    expect(slots.read(slot, 1)).toBe(1_000.25)
    expect(slots.read(slot, 2)).toBe(Number.NEGATIVE_INFINITY)
    slots.write(slot, 2, 5_000)
    expect([slots.read(slot, 1), slots.read(slot, 2)]).toEqual([Number.NEGATIVE_INFINITY, 5_000])
    slots.end(slot)
    expect(slots.read(slot, 2)).toBe(Number.NEGATIVE_INFINITY)
  })

  it('is seen by another thread that has the memory, also of slots that came later', () => {
    const slots = new LeaseSlots()
    const others = new LeaseSlots(slots.memory)
    const taken = Array.from({ length: 5_000 }, () => slots.take())
    expect(new Set(taken).size).toBe(5_000)
    others.write(4_999, 7, Number.POSITIVE_INFINITY)
    expect(slots.read(4_999, 7)).toBe(Number.POSITIVE_INFINITY)
    others.endAll()
    expect(slots.read(4_999, 7)).toBe(Number.NEGATIVE_INFINITY)
  })

  it('is over when it is given back, and is taken again', () => {
    const slots = new LeaseSlots()
    const slot = slots.take()
    slots.write(slot, 1, 1_000)
    slots.giveBack(slot)
    expect(slots.read(slot, 1)).toBe(Number.NEGATIVE_INFINITY)
    expect(slots.take()).toBe(slot)
  })
})

describe('a reader at any instant of a change', () => {
  /** The words of the slot 0 in the order in which a writer changes them, each before the change. */
  function watchWrites(slots: LeaseSlots, look: () => void): () => void {
    const { store } = Atomics
    Object.defineProperty(Atomics, 'store', {
      configurable: true,
      writable: true,
      value: (...args: Parameters<typeof store>) => {
        look()
        const stored = store(...args)
        look()
        return stored
      },
    })
    expect(slots.read(0, 1)).toBe(1_000)
    return () => Object.defineProperty(Atomics, 'store', { configurable: true, writable: true, value: store })
  }

  it('does not take the validity of the next grant for that of an earlier one', () => {
    const slots = new LeaseSlots()
    slots.take()
    slots.write(0, 1, 1_000)
    const seen: number[] = []
    const unwatch = watchWrites(slots, () => seen.push(slots.read(0, 1)))
    slots.write(0, 2, 9_000)
    unwatch()
    expect(seen).toHaveLength(6)
    expect([...new Set(seen)]).toEqual([1_000, Number.NEGATIVE_INFINITY])
  })

  it('that has read the end before the change does not count it for another number', () => {
    const slots = new LeaseSlots()
    slots.take()
    slots.write(0, 1, 1_000)
    const { load } = Atomics
    let isFirst = true
    Object.defineProperty(Atomics, 'load', {
      configurable: true,
      writable: true,
      value: (...args: Parameters<typeof load>) => {
        const value = load(...args)
        // Between the two words, the next grant is written.
        if (isFirst) {
          isFirst = false
          slots.write(0, 2, 9_000)
        }
        return value
      },
    })
    const read = slots.read(0, 1)
    Object.defineProperty(Atomics, 'load', { configurable: true, writable: true, value: load })
    expect(read).toBe(Number.NEGATIVE_INFINITY)
  })
})
