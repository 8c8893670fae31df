/**
 * The cases of client-go's `leaderelection_test.go` and of its health check, by their names. Not here: the cases with two
 * records (`MultiLock`), which no longer exist, and `TestLeaseSpecToLeaderElectionRecordRoundTrip`, which is about the layout of
 * the record: see the tests of `@leasehold/kubernetes`.
 */
import { AbortableCall } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { type Candidate, Electorate, TTL } from './electorate.js'

const call = new AbortableCall()
const request = { name: 'job', owner: 'bing', grantId: '00000000-0000-4000-8000-000000000001' }

async function expectLeader(electorate: Electorate, { election }: Candidate): Promise<void> {
  expect(election.isLeader).toBe(true)
  const { owner, term } = election
  expect(await electorate.during(election.leader())).toEqual({ owner, term, metadata: {} })
}

describe('TestTryAcquireOrRenew', () => {
  it('acquire from no object: a name without a record', async () => {
    const electorate = new Electorate()
    await expectLeader(electorate, await electorate.lead())
  })

  it('acquire from object without annotations, unled object, empty led object: a record without a holder', async () => {
    const electorate = new Electorate()
    const outcome = await electorate.store.acquire({ ...request, ttl: TTL })
    if (outcome.granted) await electorate.store.release(outcome.grant)
    await expectLeader(electorate, await electorate.lead())
  })

  it('acquire from led object with the lease duration seconds: the recorded ttl counts, not that of the candidate', async () => {
    const electorate = new Electorate()
    await electorate.store.acquire({ ...request, ttl: 3_000 })
    const candidate = await electorate.lead()
    await electorate.pass(2_900)
    expect(candidate.election.isLeader).toBe(false)
    await electorate.pass(2_000)
    await expectLeader(electorate, candidate)
  })

  it('acquire from led, unacked object: the holder did not renew', async () => {
    const electorate = new Electorate()
    await electorate.store.acquire({ ...request, ttl: TTL })
    await electorate.pass(TTL)
    await expectLeader(electorate, await electorate.lead())
  })

  it("don't acquire from led, acked object: the holder renews", async () => {
    const electorate = new Electorate()
    const outcome = await electorate.store.acquire({ ...request, ttl: TTL }, call)
    const candidate = await electorate.lead()
    for (let renewals = 0; renewals < 5; renewals += 1) {
      await electorate.pass(TTL / 2)
      if (outcome.granted) await electorate.store.renew(outcome.grant)
    }
    expect(candidate.election.isLeader).toBe(false)
    expect(await candidate.election.leader()).toMatchObject({ owner: 'bing' })
  })

  it('renew already acquired object: the term goes on, and is reported once', async () => {
    const electorate = new Electorate()
    const leader = await electorate.lead()
    const { term } = leader.election
    await electorate.pass(10 * TTL)
    expect(leader.election.term).toBe(term)
    expect(leader.events).toEqual([`elected ${term}`])
    await expectLeader(electorate, leader)
  })
})

describe('TestReleaseLease, TestReleaseOnCancellation', () => {
  it('release acquired lock: everyone learns that there is no leader', async () => {
    const electorate = new Electorate()
    const { election } = await electorate.lead()
    const observer = electorate.create().election
    expect(await observer.leader()).toBeDefined()
    await electorate.during(election.stop())
    expect(await observer.leader()).toBeUndefined()
  })

  it.each(['renew', 'renewMany'] as const)(
    'release acquired lock on cancellation of %s: of a heartbeat',
    async (method) => {
      const electorate = new Electorate()
      let isHanging = false
      const { election, events } = electorate.start(
        {},
        { plan: ({ operation }) => (isHanging && operation.startsWith(method) ? { kind: 'hang' } : undefined) },
      )
      await electorate.pass(TTL / 2)
      isHanging = true
      await electorate.pass(1_200)
      await electorate.during(election.stop())
      expect(events.at(-1)).toMatch(/^resigned/)
      expect(await election.leader()).toBeUndefined()
    },
  )
})

describe('the health check', () => {
  it('passes for a candidate that does not lead, and for a leader that renews', async () => {
    const electorate = new Electorate()
    const leader = await electorate.lead()
    const other = await electorate.lead()
    await electorate.pass(3 * TTL)
    expect([leader, other].map(({ election }) => election.healthy)).toEqual([true, true])
  })

  it('fails for a leader whose lease is over and whose work goes on', async () => {
    const electorate = new Electorate()
    const { election } = await electorate.lead({ onElected: () => new Promise(() => {}) })
    electorate.isDown = true
    await electorate.pass(TTL / 2)
    expect(election.healthy).toBe(true)
    await electorate.pass(TTL)
    expect(election.healthy).toBe(false)
  })

  it('fails for a leader whose event loop was blocked past the ttl, before any timer has run', async () => {
    const electorate = new Electorate()
    const { election } = await electorate.lead()
    electorate.clock.block(1.1 * TTL)
    expect([election.healthy, election.isLeader]).toEqual([false, false])
    await electorate.pass(TTL)
    expect(election.healthy).toBe(true)
  })

  it('passes for a leader that lost its lease and whose work has ended', async () => {
    const electorate = new Electorate()
    const { election, events } = await electorate.lead()
    electorate.isDown = true
    await electorate.pass(2 * TTL)
    expect(events.at(-1)).toMatch(/^lost/)
    expect(election.healthy).toBe(true)
  })
})
