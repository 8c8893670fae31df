import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { WaitingRooms } from '../../src/memory/waiting-rooms.js'

const TTL = 100
const { signal } = new AbortController()

/** Rooms of names that are all free, or all locked until an instant. */
function roomsOf(clock: VirtualClock, lockedUntil = Number.NEGATIVE_INFINITY): WaitingRooms {
  return new WaitingRooms(clock, () => lockedUntil)
}

describe('WaitingRooms', () => {
  it('has no room for a name that nobody waits for', () => {
    const rooms = roomsOf(new VirtualClock())
    expect(rooms.admits('invoices', 'a', 0)).toBe(true)
    rooms.update('invoices', 0)
    rooms.remove('invoices', 'a', 0)
    expect(rooms.size).toBe(0)
  })

  it('forgets the room with the last place', () => {
    const rooms = roomsOf(new VirtualClock())
    rooms.keep('invoices', 'a', 0, TTL)
    rooms.keep('invoices', 'b', 0, TTL)
    rooms.remove('invoices', 'a', 0)
    expect(rooms.size).toBe(1)
    rooms.remove('invoices', 'b', 0)
    expect(rooms.size).toBe(0)
  })

  it('forgets the room when all places are dead', () => {
    const rooms = roomsOf(new VirtualClock())
    rooms.keep('invoices', 'a', 0, TTL)
    rooms.update('invoices', TTL - 1)
    expect(rooms.size).toBe(1)
    rooms.update('invoices', TTL)
    expect(rooms.size).toBe(0)
  })

  it('forgets the room with the last who listens', async () => {
    const rooms = roomsOf(new VirtualClock())
    const watches = ['a', undefined].map((grantId) => rooms.listen('invoices', signal, grantId, () => undefined))
    for (const watch of watches) {
      expect(rooms.size).toBe(1)
      await watch.return()
    }
    expect(rooms.size).toBe(0)
  })

  it('keeps the room of one who stopped listening and has a place', async () => {
    const rooms = roomsOf(new VirtualClock(), TTL)
    rooms.keep('invoices', 'a', 0, TTL)
    await rooms.listen('invoices', signal, 'a', () => undefined).return()
    expect(rooms.size).toBe(1)
    rooms.remove('invoices', 'a', 0)
    expect(rooms.size).toBe(0)
  })

  it('wakes only those in the room of the name', async () => {
    const rooms = roomsOf(new VirtualClock(), TTL)
    const watch = rooms.listen('orders', signal, undefined, () => undefined)
    let isWoken = false
    void watch.next().then(() => {
      isWoken = true
    })
    rooms.keep('invoices', 'a', 0, TTL)
    rooms.update('invoices', TTL)
    await Promise.resolve()
    expect(isWoken).toBe(false)
    rooms.update('orders', TTL)
    await Promise.resolve()
    expect(isWoken).toBe(true)
    await watch.return()
  })
})
