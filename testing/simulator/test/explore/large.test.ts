import { describe, expect, it } from 'vitest'
import type { Bounds } from '../../src/explore/bounds.js'
import { explore } from '../../src/explore/explore.js'

/** One message of each client on the way at a time, and none carried out twice. */
const plain: Partial<Bounds> = { messages: 1, duplicates: false }

/** Within each of these bounds, there are up to a few hundred thousand states. */
const all: readonly (readonly [string, Partial<Bounds>])[] = [
  ['one client of a server-timed store, with all that can happen', { clients: 1, ttl: 4 }],
  [
    'one client of an observed store, with all that can happen',
    { clients: 1, ttl: 3, store: 'observed', drift: 'both' },
  ],
  ['two clients of a server-timed store, with copies, failures and crashes', { ttl: 2, messages: 1, drift: 'none' }],
  ['two clients of a server-timed store, with drift', { ...plain, ttl: 3, failures: false }],
  ['two waiters in the queue', { ...plain, ttl: 2, failures: false, crashes: false, drift: 'none', queue: true }],
]

describe('all states within larger bounds', () => {
  it.each(all)('of %s', { timeout: 1_200_000 }, (_, bounds) => {
    const { schedule, isComplete } = explore(bounds, { progress: true })
    expect(schedule).toBeUndefined()
    expect(isComplete).toBe(true)
  })
})

/** Nothing goes wrong but that messages are late or lost. */
const quiet: Partial<Bounds> = { ...plain, ttl: 2, failures: false, crashes: false, drift: 'none' }

describe('the same states, whether or not steps are left out whose order makes no difference', () => {
  it.each([
    ['two clients of an observed store', { ...quiet, store: 'observed' }],
    ['two clients that crash, with copies and failures', { ttl: 2, messages: 1, drift: 'none' }],
    ['two clients with drift', { ...quiet, ttl: 3, drift: 'slow' }],
    ['three clients', { ...quiet, clients: 3 }],
  ] as const)('of %s', { timeout: 1_200_000 }, (_, bounds) => {
    const [fewer, all] = [explore(bounds), explore(bounds, { reduces: false })]
    expect(fewer.isComplete && all.isComplete).toBe(true)
    expect(fewer.states).toBe(all.states)
    expect(fewer.steps).toBeLessThan(all.steps)
  })
})

/** Of these, there are too many: those that the fewest steps lead to. */
const first: readonly (readonly [string, Partial<Bounds>])[] = [
  ['two clients of a server-timed store', {}],
  ['two clients of an observed store', { store: 'observed', drift: 'both' }],
  ['three clients of a server-timed store', { clients: 3 }],
  ['three clients of an observed store', { clients: 3, store: 'observed', drift: 'both' }],
]

describe('the first 200,000 states, with all that can happen', () => {
  it.each(first)('of %s', { timeout: 1_200_000 }, (_, bounds) => {
    const { schedule, states } = explore(bounds, { mostStates: 200_000 })
    expect(schedule).toBeUndefined()
    expect(states).toBeGreaterThanOrEqual(200_000)
  })
})
