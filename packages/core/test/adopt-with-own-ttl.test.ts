import {
  createLease,
  type HandOff,
  type LeaseLost,
  LeaseTimeoutError,
  LeaseUnavailableError,
  MemoryLeaseStore,
} from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { validityOf } from '../src/time/validity.js'
import { LIMIT, setUp, silentLogger, TTL } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

const call = new AbortableCall()
const forever = Number.POSITIVE_INFINITY

/** The ttl of the lease that is handed off; that of the adopter is {@link TTL}. Milliseconds. */
const SHORTER = 4_000
const LONGER = 60_000

function handOffOf(ttl: HandOff['ttl']): HandOff {
  return { name: 'job', owner: 'me', grantId: 'handed-over', fencingToken: '0', ttl }
}

/** An adopter whose change was granted, and whose claim for its own ttl has no answer. Both are sent at 0. */
async function setUpChanged(ttl: HandOff['ttl']) {
  const fixture = setUp()
  const adopted = fixture.lease.adopt(handOffOf(ttl), { onLost: (lost) => fixture.losses.push(lost) })
  adopted.catch(() => {})
  const { grantId = '' } = fixture.store.last('change')
  fixture.store.last('change').answer('yes')
  await fixture.clock.settle()
  const finite = ttl === 'infinite' ? forever : ttl
  const record = recordOf({ owner: 'me', grantId, fencingToken: 1n, ttl: finite })
  const own = { name: 'job', owner: 'me', grantId, fencingToken: 1n, ttl: TTL }
  return { ...fixture, adopted, grantId, record, yes: { granted: true, grant: own } }
}

describe('adopt with another heartbeatTimeout than that of the hand-off', () => {
  it('claims the grant again under its id after the change, and resolves when that is confirmed', async () => {
    const { clock, store, lease, adopted, grantId, yes } = await setUpChanged(SHORTER)
    expect(lease.checkLease()).toBe(false)
    await clock.advance(100)
    expect(store.last('acquire').grantId).toBe(grantId)
    store.last('acquire').answer(yes)
    expect(await adopted).toBe(true)
    expect(lease.remaining).toBe(validityOf(TTL) - 100)
  })

  it('takes one request where both have the same', async () => {
    const { store, lease } = setUp()
    const adopted = lease.adopt(handOffOf(TTL))
    store.last('change').answer('yes')
    expect(await adopted).toBe(true)
    expect(store.count('acquire')).toBe(0)
  })

  it.each([
    { ttl: SHORTER, validity: validityOf(SHORTER) },
    { ttl: LONGER, validity: validityOf(TTL) },
    { ttl: 'infinite', validity: validityOf(TTL) },
  ] as const)(
    'from $ttl: without its own ttl confirmed, it is valid for the shorter one, from the change on',
    async ({ ttl, validity }) => {
      const { clock, store, lease, adopted, record, losses } = await setUpChanged(ttl)
      await clock.advance(200)
      store.last('acquire').fail(new Error('reset'))
      await clock.settle()
      store.last('read').answer(record)
      expect(await adopted).toBe(true)
      expect(lease.remaining).toBe(validity - 200)
      // It is claimed again, without an answer, until the validity is over.
      expect(store.last('acquire').grantId).toBe(record.grantId)
      await clock.advance(validity - 200 - 1)
      expect(lease.checkLease()).toBe(true)
      expect(store.count('renew')).toBe(0)
      await clock.advance(1)
      expect(lease.checkLease()).toBe(false)
      expect(losses).toMatchObject([{ reason: 'expired' }])
    },
  )

  it('sets its own ttl by the first heartbeat that succeeds, and then renews', async () => {
    const { clock, store, lease, adopted, record, yes } = await setUpChanged(SHORTER)
    store.last('acquire').fail(new Error('reset'))
    await clock.settle()
    store.last('read').answer(record)
    expect(await adopted).toBe(true)
    await clock.advance(LIMIT)
    expect(lease.state).toBe('jeopardy')
    await clock.advance(LIMIT)
    const before = store.last('acquire')
    const sent = lease.remaining
    before.answer(yes)
    await clock.settle()
    expect(lease.state).toBe('held')
    expect(lease.remaining).toBeGreaterThan(sent + TTL - SHORTER)
    await clock.advance(TTL / 2)
    expect(store.calls.at(-1)?.method).toBe('renew')
  })

  it('is lost if its claim for its own ttl is granted under another token: the lease had ended', async () => {
    const { clock, store, lease, adopted, record, yes, losses } = await setUpChanged(SHORTER)
    store.last('acquire').fail(new Error('reset'))
    await clock.settle()
    store.last('read').answer(record)
    expect(await adopted).toBe(true)
    store.last('acquire').answer({ ...yes, grant: { ...yes.grant, fencingToken: 2n } })
    await clock.settle()
    expect(lease.checkLease()).toBe(false)
    expect(losses).toMatchObject([{ reason: 'taken' }])
    expect(store.calls.at(-1)).toMatchObject({ method: 'release', grantId: record.grantId })
  })

  it.each([
    { holder: recordOf({ state: 'breaking' }), lost: { reason: 'broken' } },
    { holder: undefined, lost: { reason: 'broken' } },
    { holder: recordOf(), lost: { reason: 'taken', owner: 'other' } },
  ])('is lost as $lost.reason if that claim is refused', async ({ holder, lost }) => {
    const { clock, store, adopted, record, losses } = await setUpChanged(SHORTER)
    store.last('acquire').fail(new Error('reset'))
    await clock.settle()
    store.last('read').answer(record)
    expect(await adopted).toBe(true)
    store.last('acquire').answer({ granted: false, ...(holder && { holder }) })
    await clock.settle()
    expect(losses).toEqual([lost])
  })

  it('resolves false if another owner holds the name when it claims its own ttl', async () => {
    const { store, lease, adopted } = await setUpChanged(SHORTER)
    store.last('acquire').answer({ granted: false, holder: recordOf() })
    expect(await adopted).toBe(false)
    expect(lease.state).toBe('idle')
  })

  it('rejects if its outcome stays unknown, and the grant is taken back', async () => {
    const { clock, store, lease, adopted, record } = await setUpChanged(SHORTER)
    store.last('acquire').fail(new Error('reset'))
    await clock.settle()
    store.last('read').fail(new Error('reset'))
    await expect(adopted).rejects.toBeInstanceOf(LeaseUnavailableError)
    expect(lease.checkLease()).toBe(false)
    store.last('read').answer(record)
    await clock.settle()
    expect(store.last('release').grantId).toBe(record.grantId)
  })

  it('takes the grant back if it is cancelled between the two requests', async () => {
    const { clock, store, lease } = setUp()
    const cancelled = new AbortController()
    const adopted = lease.adopt(handOffOf(SHORTER), { signal: cancelled.signal })
    const rejected = expect(adopted).rejects.toThrow('enough')
    const { grantId } = store.last('change')
    store.last('change').answer('yes')
    await clock.settle()
    cancelled.abort(new Error('enough'))
    await rejected
    await clock.settle()
    store.last('read').answer(recordOf({ owner: 'me', grantId: grantId ?? '' }))
    await clock.settle()
    expect(store.last('release').grantId).toBe(grantId)
  })

  it('waits for its own ttl only while the handed-off lease is certainly in force', async () => {
    const { clock, store, lease } = setUp()
    const adopted = lease.adopt(handOffOf(500))
    const rejected = expect(adopted).rejects.toBeInstanceOf(LeaseTimeoutError)
    store.last('change').answer('yes')
    await clock.settle()
    await clock.advance(validityOf(500))
    await rejected
    expect(store.count('acquire')).toBe(1)
  })
})

describe('a pipeline whose steps have different durations', () => {
  it.each([
    [10_000, 2_000, 30_000],
    [2_000, forever, 5_000],
    [forever, 2_000, forever],
  ])('%d → %d → %d ms: the record has the ttl of each step, and the token grows', async (...ttls) => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const losses: LeaseLost[] = []
    const onLost = (lost: LeaseLost) => losses.push(lost)
    const steps = ttls.map((heartbeatTimeout, place) =>
      createLease(store, 'job', { owner: `step-${place}`, heartbeatTimeout, clock, logger: silentLogger }),
    )
    const thief = createLease(store, 'job', { owner: 'thief', clock, logger: silentLogger })
    const tokens: bigint[] = []
    let handOff: HandOff | undefined
    for (const [place, step] of steps.entries()) {
      expect(await (handOff === undefined ? step.acquire({ onLost }) : step.adopt(handOff, { onLost }))).toBe(true)
      tokens.push(step.fencingToken ?? 0n)
      expect(await store.read('job', call)).toMatchObject({ owner: `step-${place}`, ttl: ttls[place] })
      await clock.advance(45_000)
      expect(step.checkLease()).toBe(true)
      expect(await thief.acquire()).toBe(false)
      handOff = JSON.parse(JSON.stringify(await step.handOff({ owner: `step-${place + 1}` })))
    }
    expect(losses).toEqual([])
    expect(tokens).toEqual([1n, 3n, 5n])
  })
})
