import { describe, expect, it } from 'vitest'
import { createEntry, renewEntry } from '../../client/list/entry.js'
import { validityOf } from '../../client/list/validity.js'
import type { LeaseRow } from '../../src/protocol.js'

const held: LeaseRow = { name: 'a', state: 'leased', owner: 'ada', token: '1', ttl: 10_000, remaining: 8_000 }

describe('validityOf', () => {
  it('counts down from what the server said', () => {
    const entry = createEntry(held, 1_000)
    expect(validityOf(entry, 1_000)).toEqual({ kind: 'counting', ttl: 10_000, remaining: 8_000 })
    expect(validityOf(entry, 4_000)).toEqual({ kind: 'counting', ttl: 10_000, remaining: 5_000 })
  })

  it('stops at 0, and grows with a heartbeat only', () => {
    const entry = createEntry(held, 1_000)
    expect(validityOf(entry, 60_000)).toMatchObject({ remaining: 0 })
    expect(validityOf(renewEntry(entry, 10_000, 60_000), 61_000)).toMatchObject({ remaining: 9_000 })
  })

  it('has no end where the lease has none', () => {
    expect(validityOf(createEntry({ ...held, ttl: null, remaining: null }, 0), 1e12)).toEqual({ kind: 'endless' })
  })

  it('is no more than what the server said, also where that is longer than the ttl', () => {
    expect(validityOf(createEntry({ ...held, remaining: 12_000 }, 0), 0)).toMatchObject({
      ttl: 12_000,
      remaining: 12_000,
    })
  })

  it('is none where nobody holds the lease, or the server does not know', () => {
    const { remaining: _, ...unknown } = held
    expect(validityOf(createEntry(unknown, 0), 0)).toEqual({ kind: 'none' })
    expect(validityOf(createEntry({ ...held, state: 'expired' }, 0), 0)).toEqual({ kind: 'none' })
    expect(validityOf(createEntry({ ...held, state: 'broken' }, 0), 0)).toEqual({ kind: 'none' })
  })
})
