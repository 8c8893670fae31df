import { createLease, type LeaseStore, LeaseUnauthorisedError, type Logger, MemoryLeaseStore } from '@leasehold/core'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { setUp } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

function recordingLogger(): { readonly lines: string[]; readonly logger: Logger } {
  const lines: string[] = []
  const log = (message: string): void => void lines.push(message)
  return { lines, logger: { debug() {}, info: log, warn: log, error: log } }
}

function unreachable(isCut = (): boolean => true): LeaseStore {
  return new FaultyStore(new MemoryLeaseStore(), { plan: () => (isCut() ? { kind: 'fail-before' } : undefined) })
}

describe('a wait for a store that cannot be reached', () => {
  it('is reported at the first failure, and again when the store answers', async () => {
    const { lines, logger } = recordingLogger()
    const { clock, store, lease } = setUp({ logger })
    const events: unknown[] = []
    lease.on('unreachable', ({ cause }) => events.push(cause)).on('reachable', () => events.push('reachable'))
    const ending = new AbortController()
    const acquired = lease.acquire({ wait: Number.POSITIVE_INFINITY, signal: ending.signal })
    const failure = new Error('connect ECONNREFUSED')
    store.last('acquire').fail(failure)
    await clock.advance(0)
    store.last('read').fail(failure)
    await clock.advance(0)
    expect(events).toEqual([expect.objectContaining({ code: 'unavailable', cause: failure })])
    expect(lines).toEqual([expect.stringContaining('ECONNREFUSED')])
    while (store.count('acquire') === 1) await clock.advance(5)
    store.last('acquire').answer({ granted: false, holder: recordOf() })
    await clock.advance(0)
    expect(events.slice(1)).toEqual(['reachable'])
    expect(lines.at(-1)).toBe("lease 'job' of 'me': the store has answered again")
    while (store.count('acquire') === 2) await clock.advance(5)
    store.last('acquire').fail(failure)
    await clock.advance(0)
    store.last('read').fail(failure)
    await clock.advance(0)
    expect(events.slice(2)).toEqual([expect.objectContaining({ code: 'unavailable' })])
    ending.abort()
    await expect(acquired).rejects.toBe(ending.signal.reason)
  })

  it('is logged at growing intervals while it lasts: at most eight lines in half an hour', async () => {
    const { lines, logger } = recordingLogger()
    const clock = new VirtualClock()
    const store = unreachable()
    const leases = Array.from({ length: 20 }, (_, place) => createLease(store, `job-${place}`, { clock, logger }))
    const ending = new AbortController()
    const options = { wait: Number.POSITIVE_INFINITY, signal: ending.signal }
    const waits = leases.map((lease) => lease.acquire(options).catch(() => 'ended'))
    await clock.advance(5_000)
    expect(lines).toHaveLength(1)
    await clock.advance(1_800_000)
    expect(lines.length).toBeGreaterThan(4)
    expect(lines.length).toBeLessThan(9)
    ending.abort()
    await Promise.all(waits)
  })

  it('is over for the log when the last lease of the store was answered', async () => {
    const { lines, logger } = recordingLogger()
    const clock = new VirtualClock()
    let isCut = true
    const store = unreachable(() => isCut)
    const leases = ['one', 'other'].map((name) => createLease(store, name, { clock, logger }))
    const waits = leases.map((lease) => lease.acquire({ wait: Number.POSITIVE_INFINITY }))
    await clock.advance(10_000)
    isCut = false
    await clock.advance(60_000)
    expect(await Promise.all(waits)).toEqual([true, true])
    expect(lines.filter((line) => line.includes('answered again'))).toHaveLength(1)
  })

  it('says nothing to a caller that tries once, or whose credentials are refused: the rejection says it', async () => {
    const { lines, logger } = recordingLogger()
    const first = setUp({ logger })
    const once = first.lease.acquire().catch((error) => error.code)
    first.store.last('acquire').fail(new Error('connect ECONNREFUSED'))
    await first.clock.advance(0)
    first.store.last('read').fail(new Error('connect ECONNREFUSED'))
    expect(await once).toBe('unavailable')
    const second = setUp({ logger })
    const waiting = second.lease.acquire({ wait: Number.POSITIVE_INFINITY }).catch((error) => error.code)
    second.store.last('acquire').fail(new LeaseUnauthorisedError('wrong password'))
    expect(await waiting).toBe('unauthorised')
    expect(lines).toEqual([])
  })
})
