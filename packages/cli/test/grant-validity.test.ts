import type { LeaseRecord } from '@leasehold/core'
import { validityOf } from '@leasehold/core/store-kit'
import { expect, it } from 'vitest'
import { GrantValidity } from '../src/run/grant-validity.js'

const TTL = 10_000

function grant(name: string, grantId: string) {
  return { name, grantId, ttl: TTL }
}

function record(grantId: string, fields: Partial<LeaseRecord>): LeaseRecord {
  return { name: 'x', owner: 'me', grantId, fencingToken: 1n, ttl: TTL, state: 'leased', metadata: {}, ...fields }
}

it('counts from when the request was sent', () => {
  const validity = new GrantValidity()
  expect(validity.until).toBe(Number.NEGATIVE_INFINITY)
  validity.granted(grant('x', 'a'), 100)
  expect(validity.until).toBe(100 + validityOf(TTL))
  validity.renewed('a', 2_000)
  expect(validity.until).toBe(2_000 + validityOf(TTL))
})

it('is not shortened by an answer that comes late', () => {
  const validity = new GrantValidity()
  validity.granted(grant('x', 'a'), 0)
  validity.renewed('a', 2_000)
  validity.renewed('a', 1_000)
  expect(validity.until).toBe(2_000 + validityOf(TTL))
})

it('ends with the first of several leases, and without those that are released', () => {
  const validity = new GrantValidity()
  validity.granted(grant('turnstile', 'a'), 0)
  validity.granted(grant('slot', 'b'), 1_000)
  expect(validity.until).toBe(validityOf(TTL))
  validity.leaving('a')
  expect(validity.until).toBe(1_000 + validityOf(TTL))
})

it('does not count an earlier grant of the same name, nor one that was lost', () => {
  const validity = new GrantValidity()
  validity.granted(grant('x', 'a'), 0)
  validity.granted(grant('x', 'b'), 20_000)
  expect(validity.until).toBe(20_000 + validityOf(TTL))
  validity.forget()
  expect(validity.until).toBe(Number.NEGATIVE_INFINITY)
})

it('ends at maxHold, counted from the first request', () => {
  const validity = new GrantValidity(15_000)
  validity.granted(grant('x', 'a'), 0)
  validity.renewed('a', 8_000)
  expect(validity.until).toBe(15_000)
})

it('ends at maxHold, counted from the first request, also if a claim is repeated because its answer was lost', () => {
  const validity = new GrantValidity(12_000)
  validity.granted(grant('x', 'a'), 0)
  validity.granted(grant('x', 'a'), 5_000)
  expect(validity.until).toBe(12_000)
})

it('counts a claim without an answer from when it was first sent, if a look shows the grant', () => {
  const validity = new GrantValidity()
  validity.asked('a', 1_000)
  validity.asked('a', 3_000)
  validity.seen(record('a', {}), 4_000)
  expect(validity.until).toBe(1_000 + validityOf(TTL))
})

it('counts a claim that was refused from when it was repeated', () => {
  const validity = new GrantValidity()
  validity.asked('a', 1_000)
  validity.refused('a')
  validity.asked('a', 60_000)
  validity.seen(record('a', {}), 61_000)
  expect(validity.until).toBe(60_000 + validityOf(TTL))
})

it('knows until when the name of a broken grant stays locked, and of no other loss', () => {
  const validity = new GrantValidity()
  validity.granted(grant('x', 'a'), 0)
  expect(validity.lockedUntil('broken')).toBe(Number.NEGATIVE_INFINITY)
  validity.gone('a', record('a', { state: 'breaking', remaining: 3_000 }), 2_000)
  expect(validity.lockedUntil('broken')).toBe(5_000)
  expect(validity.lockedUntil('taken')).toBe(Number.NEGATIVE_INFINITY)
  expect(validity.lockedUntil('expired')).toBe(Number.NEGATIVE_INFINITY)
})

it('never counts a break as longer than the validity', () => {
  const validity = new GrantValidity()
  validity.granted(grant('x', 'a'), 0)
  validity.seen(record('a', { state: 'breaking', remaining: 60_000 }), 2_000)
  expect(validity.lockedUntil('broken')).toBe(validityOf(TTL))
})
