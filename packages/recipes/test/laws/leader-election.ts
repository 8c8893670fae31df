import assert from 'node:assert/strict'
import { AbortableCall } from '@leasehold/core/store'
import { PendingWork } from '../../../testkit/src/laws/pending-work.js'
import { type RecipePlace, type RecipeTrial, recipeLawsWith } from './recipe-trial.js'

/** The leader, as an election reports it. */
interface ReportedLeader {
  readonly owner: string
  readonly term: bigint
  readonly metadata: Readonly<Record<string, string>>
}

/** An election, as its laws see it. */
export interface ElectionUnderLaw {
  readonly isLeader: boolean
  readonly term: bigint | undefined
  readonly healthy: boolean
  start(): void
  resign(): Promise<void>
  transferTo(to: string): Promise<{ readonly owner: string; readonly term: bigint }>
  candidates(): Promise<readonly { readonly owner: string; readonly rank: number }[]>
  stop(options?: { readonly transfer?: string }): Promise<void>
  leader(): Promise<ReportedLeader | undefined>
  observe(signal?: AbortSignal): AsyncIterable<ReportedLeader | undefined>
}

/** The options with which a law makes an election. */
export interface ElectionLawOptions {
  readonly onElected?: (term: Term) => unknown
  readonly metadata?: Readonly<Record<string, string>>
  readonly resignPause?: number
  readonly stopTimeout?: number
  readonly rank?: number
}

type Trial = RecipeTrial<ElectionUnderLaw, ElectionLawOptions>

interface Term {
  readonly term: bigint
  readonly signal: AbortSignal
}

/** The options of a candidate; `work` is done in its terms, which otherwise last until it resigns or loses the lease. */
interface CandidateOptions extends Omit<ElectionLawOptions, 'onElected'> {
  readonly work?: PendingWork<Term>
}

interface Candidate {
  readonly election: ElectionUnderLaw
  readonly place: RecipePlace
}

/** A started candidate in a place of its own; it is stopped at the end. */
async function candidate(trial: Trial, { work, ...options }: CandidateOptions = {}): Promise<Candidate> {
  const place = await trial.place()
  const working = work && { onElected: (term: Term) => work.run(term) }
  const election = await trial.create({ stopTimeout: trial.ttl / 2, ...working, ...options }, place)
  trial.atEnd(() => election.stop())
  election.start()
  return { election, place }
}

async function leading(trial: Trial, options?: CandidateOptions): Promise<Candidate> {
  const made = await candidate(trial, options)
  await trial.until('the first candidate leads', () => made.election.isLeader)
  return made
}

/** A leader, and a candidate that waits. */
async function rivals(trial: Trial, options?: CandidateOptions): Promise<readonly [Candidate, Candidate]> {
  return [await leading(trial, options), await candidate(trial)]
}

/** Lets time pass until the election leads; fails if both lead at any time. */
async function untilTakenOver(trial: Trial, next: ElectionUnderLaw, last: ElectionUnderLaw): Promise<void> {
  await trial.until('the next candidate leads', () => {
    assert(!(next.isLeader && last.isLeader), 'two lead at once')
    return next.isLeader
  })
}

/** Lets time pass until the leader finds these candidates, the best first. */
async function untilReady(trial: Trial, leader: ElectionUnderLaw, candidates: readonly Candidate[]): Promise<void> {
  const owners = candidates.map(({ place }) => place.leaseOptions.owner)
  let ready: readonly string[] = []
  for (let looks = 0; looks < 100 && ready.join() !== owners.join(); looks += 1) {
    await trial.pass(trial.ttl / 50)
    ready = (await trial.during(leader.candidates())).map(({ owner }) => owner)
  }
  assert.deepEqual(ready, owners)
}

/** The laws get a work for the terms of one candidate. */
const lawsOf = recipeLawsWith(async (_: Trial) => [new PendingWork<Term>()])

/** The laws of an election of a leader. */
export const leaderElectionLaws = [
  ...lawsOf([], {
    async 'one of several candidates leads, and each later term has a larger number'(trial) {
      const [first, second] = await rivals(trial)
      await trial.pass(trial.ttl / 2)
      assert.deepEqual([first.election.isLeader, second.election.isLeader], [true, false])
      const { term } = first.election
      assert(term !== undefined && second.election.term === undefined)
      await trial.during(first.election.stop())
      await untilTakenOver(trial, second.election, first.election)
      assert(second.election.term !== undefined && second.election.term > term)
    },
    async 'a leader without the store stops leading by itself, its signal aborts, and another one leads'(trial, work) {
      const [first, second] = await rivals(trial, { work })
      first.place.cutOff()
      await untilTakenOver(trial, second.election, first.election)
      assert.equal(work.only.held.signal.aborted, true)
      assert.equal(first.election.term, undefined)
      work.only.end()
    },
    async 'a new term does not begin in a process before the work of the last one has ended'(trial, work) {
      const { place } = await leading(trial, { work, resignPause: 0 })
      place.cutOff()
      await trial.until('the work is to end', () => work.only.held.signal.aborted)
      place.heal()
      await trial.pass(2 * trial.ttl)
      const last = work.only
      last.end()
      await trial.until('a new term begins', () => work.calls.length === 2)
      assert(work.calls[1] !== undefined && work.calls[1].held.term > last.held.term)
      work.calls[1].end()
    },
    async 'a term ends when its work returns, and the next campaign begins after the pause'(trial, work) {
      const { election } = await leading(trial, { work, resignPause: trial.ttl / 2 })
      work.only.end()
      await trial.until('it does not lead', () => !election.isLeader)
      await trial.pass(trial.ttl / 4)
      assert.equal(work.calls.length, 1)
      await trial.until('it leads again', () => work.calls.length === 2)
      work.calls[1]?.end()
    },
    async 'a term ends when its work fails, and the next campaign begins after the pause'(trial, work) {
      const { election } = await leading(trial, { work, resignPause: trial.ttl / 4 })
      work.only.fail(new Error('of the work'))
      await trial.until('it does not lead', () => !election.isLeader)
      await trial.until('it leads again', () => work.calls.length === 2)
      assert.equal(election.isLeader, true)
      work.calls[1]?.end()
    },
    async 'resign passes the leadership on to another candidate'(trial) {
      const [first, second] = await rivals(trial, { resignPause: trial.ttl })
      await trial.pass(trial.ttl / 5)
      await trial.during(first.election.resign())
      assert.equal(first.election.isLeader, false)
      await untilTakenOver(trial, second.election, first.election)
    },
    async 'a leader that resigns without rivals leads again after the pause'(trial) {
      const { election } = await leading(trial, { resignPause: trial.ttl / 2 })
      const { term } = election
      await trial.during(election.resign())
      await trial.pass(trial.ttl / 4)
      assert.equal(election.isLeader, false)
      await trial.until('it leads again', () => election.isLeader)
      assert(term !== undefined && election.term !== undefined && election.term > term)
    },
    async 'a leader that resigns keeps the lease until its work has ended'(trial, work) {
      const [first, second] = await rivals(trial, { work, stopTimeout: 3 * trial.ttl, resignPause: trial.ttl })
      const resigned = first.election.resign()
      assert.equal(work.only.held.signal.aborted, true)
      await trial.pass(1.5 * trial.ttl)
      assert.deepEqual([first.election.isLeader, second.election.isLeader], [true, false])
      work.only.end()
      await trial.during(resigned)
      await untilTakenOver(trial, second.election, first.election)
    },
    async 'resign of a candidate that does not lead has no effect'(trial) {
      const [first, second] = await rivals(trial)
      await trial.during(second.election.resign())
      await trial.during(first.election.stop())
      await untilTakenOver(trial, second.election, first.election)
    },
    async 'stop waits for the work to end, then frees the name'(trial, work) {
      const first = await leading(trial, { work, stopTimeout: 3 * trial.ttl })
      let isStopped = false
      const stopped = first.election.stop().then(() => {
        isStopped = true
      })
      await trial.pass(trial.ttl / 4)
      assert.equal(isStopped, false)
      work.only.end()
      await trial.during(stopped)
      assert.equal(first.election.isLeader, false)
      await leading(trial)
    },
    async 'stop rejects if the work goes on past the deadline, and the lease is held until it ends'(trial, work) {
      const [first, second] = await rivals(trial, { work, stopTimeout: trial.ttl / 5 })
      await assert.rejects(trial.during(first.election.stop()), { name: 'LeaseTimeoutError' })
      await trial.pass(1.5 * trial.ttl)
      assert.deepEqual([first.election.isLeader, second.election.isLeader], [true, false])
      work.only.end()
      await untilTakenOver(trial, second.election, first.election)
      await trial.during(first.election.stop())
    },
    async 'a candidate that stops while it waits does not lead later'(trial) {
      const first = await leading(trial)
      const second = await candidate(trial, { stopTimeout: 6 * trial.ttl })
      await trial.pass(trial.ttl / 5)
      // Without a term there is nothing to wait for.
      await trial.during(second.election.stop(), 3 * trial.ttl)
      await trial.during(first.election.stop())
      await trial.pass(trial.ttl)
      assert.equal(second.election.isLeader, false)
      await leading(trial)
    },
    async 'is unhealthy while work goes on for longer than a ttl after the last heartbeat'(trial, work) {
      const { election, place } = await leading(trial, { work })
      place.cutOff()
      await trial.pass(trial.ttl / 2)
      assert.equal(election.healthy, true)
      await trial.until('it is unhealthy', () => !election.healthy, 2 * trial.ttl)
      assert.equal(election.isLeader, false)
      work.only.end()
      await trial.until('it is healthy', () => election.healthy)
    },
    async 'an election that was stopped leaves nothing behind'(trial) {
      if (!trial.time.isVirtual) return
      const { election, place } = await leading(trial)
      const observing = (async () => {
        for await (const leader of election.observe()) assert(leader === undefined || leader.term > 0n)
      })()
      await trial.pass(trial.ttl)
      await trial.during(election.stop())
      await trial.during(observing)
      await trial.pass(2 * trial.ttl)
      assert.equal(place.machine.pending, 0)
    },
    async 'a leader that was paused past its ttl does not lead when it continues, before any timer has run'(trial) {
      if (!trial.time.isVirtual) return
      const [first, second] = await rivals(trial)
      first.place.machine.pause()
      await trial.until('the next candidate leads', () => second.election.isLeader)
      assert.equal(first.election.isLeader, false)
      assert.equal(first.election.term, undefined)
      first.place.machine.resume()
      await trial.pass(trial.ttl)
      assert.deepEqual([first.election.isLeader, second.election.isLeader], [false, true])
    },
    async 'an operator who breaks the lease ends the term'(trial, work) {
      const { election, place } = await leading(trial, { work })
      if (place.store.break === undefined) return
      await place.store.break(place.name, { period: 0 }, new AbortableCall())
      await trial.until('the work is to end', () => work.only.held.signal.aborted)
      assert.equal(election.isLeader, false)
      work.only.end()
      await trial.until('a new term begins', () => work.calls.length === 2)
      work.calls[1]?.end()
    },
  }),
  ...lawsOf(['metadata', 'list', 'change'], {
    async 'a transfer passes the leadership on in one step, to the candidate that was asked for'(trial, work) {
      const first = await leading(trial, { work, rank: 0, stopTimeout: 3 * trial.ttl })
      const second = await candidate(trial, { rank: 1 })
      const third = await candidate(trial, { rank: 2 })
      await untilReady(trial, first.election, [third, second])
      const { term } = first.election
      const transferred = first.election.transferTo(second.place.leaseOptions.owner)
      await trial.until('the work is to end', () => work.only.held.signal.aborted)
      await trial.pass(trial.ttl / 10)
      assert.deepEqual([first.election.isLeader, second.election.isLeader], [true, false])
      work.only.end()
      const next = await trial.during(transferred)
      assert.equal(first.election.isLeader, false)
      assert.equal(next.owner, second.place.leaseOptions.owner)
      assert(term !== undefined && next.term > term)
      await untilTakenOver(trial, second.election, first.election)
      assert.deepEqual([second.election.term, third.election.isLeader], [next.term, false])
    },
    async 'a leader that stops with a transfer leaves the leadership to the best candidate'(trial) {
      const first = await leading(trial, { rank: 0 })
      const second = await candidate(trial, { rank: 1 })
      const third = await candidate(trial, { rank: 2 })
      await untilReady(trial, first.election, [third, second])
      await trial.during(first.election.stop({ transfer: 'best' }))
      await untilTakenOver(trial, third.election, first.election)
      assert.equal(second.election.isLeader, false)
    },
    async 'without a candidate, a transfer is refused and the leader stays'(trial) {
      const { election } = await leading(trial, { rank: 0 })
      const { term } = election
      await trial.pass(trial.ttl / 10)
      await assert.rejects(trial.during(election.transferTo('best')), { name: 'LeaseConflictError' })
      assert.equal(election.term, term)
    },
    async 'the best candidate that is ready is next when the leader resigns'(trial) {
      const first = await leading(trial, { rank: 0, resignPause: 2 * trial.ttl })
      const second = await candidate(trial, { rank: 1 })
      const third = await candidate(trial, { rank: 2 })
      await untilReady(trial, first.election, [third, second])
      await trial.during(first.election.resign())
      await untilTakenOver(trial, third.election, first.election)
      assert.equal(second.election.isLeader, false)
    },
  }),
  ...lawsOf(['metadata'], {
    async 'everyone learns who leads, with the metadata of this leader'(trial) {
      const [first, second] = await rivals(trial, { metadata: { address: 'first' } })
      const observer = await trial.create({})
      const leader = await trial.during(observer.leader())
      const { term } = first.election
      assert.deepEqual(leader, { owner: first.place.leaseOptions.owner, term, metadata: { address: 'first' } })
      assert.deepEqual(await trial.during(second.election.leader()), leader)
      await trial.during(first.election.stop())
      await untilTakenOver(trial, second.election, first.election)
      // This one has none, and those of the last leader are gone.
      assert.deepEqual((await trial.during(observer.leader()))?.metadata, {})
    },
    async 'an observer sees each leader once, in the order of the terms'(trial) {
      const observer = await trial.create({})
      const ended = new AbortController()
      const seen: (ReportedLeader | undefined)[] = []
      const observing = (async () => {
        for await (const leader of observer.observe(ended.signal)) seen.push(leader)
      })()
      trial.atEnd(() => ended.abort())
      await trial.until('it sees that there is no leader', () => seen.length === 1)
      const owners: string[] = []
      let last = await leading(trial, { resignPause: 4 * trial.ttl, metadata: { address: '0' } })
      for (const address of ['1', '2']) {
        owners.push(last.place.leaseOptions.owner)
        await trial.until('it sees the leader', () => seen.at(-1)?.owner === owners.at(-1))
        const next = await candidate(trial, { resignPause: 4 * trial.ttl, metadata: { address } })
        await trial.during(last.election.resign())
        await untilTakenOver(trial, next.election, last.election)
        last = next
      }
      owners.push(last.place.leaseOptions.owner)
      await trial.until('it sees the last leader', () => seen.at(-1)?.owner === owners.at(-1))
      await trial.pass(trial.ttl / 2)
      await trial.during(last.election.stop())
      await trial.until('it sees that the last leader has gone', () => seen.at(-1) === undefined)
      ended.abort()
      await trial.during(observing)
      const leaders = seen.filter((leader) => leader !== undefined)
      assert.deepEqual(
        leaders.map(({ owner, metadata }) => [owner, metadata.address]),
        owners.map((owner, place) => [owner, `${place}`]),
      )
      assert(seen.every((leader, place) => place === 0 || leader !== undefined || seen[place - 1] !== undefined))
    },
  }),
]
