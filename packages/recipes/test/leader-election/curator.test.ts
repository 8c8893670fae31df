/**
 * The cases of Curator's `TestLeaderSelector` and `TestLeaderLatch`, by their names. A selector is an election with `onElected`, a
 * latch one without it. Not here: `testWithCircuitBreaker`, `testInterruption` with threads of an executor, and cases that are
 * about the nodes of ZooKeeper only.
 */
import { LeaseNameError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { Electorate, TTL } from './electorate.js'

/** Work that goes on until its signal aborts, and notes that. */
function interruptible(): {
  onElected: (term: { readonly signal: AbortSignal }) => Promise<void>
  interruptions: unknown[]
} {
  const interruptions: unknown[] = []
  const onElected = ({ signal }: { readonly signal: AbortSignal }): Promise<void> =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        interruptions.push(signal.reason)
        resolve()
      })
    })
  return { onElected, interruptions }
}

describe('LeaderSelector', () => {
  it('testInterruptLeadership, testInterruption: resign ends the work', async () => {
    const electorate = new Electorate()
    const { onElected, interruptions } = interruptible()
    const { election, errors } = await electorate.lead({ onElected })
    await electorate.during(election.resign())
    expect(interruptions).toMatchObject([{ name: 'LeaseLostError', reason: 'released' }])
    expect(errors).toEqual([])
  })

  it('testInterruptLeadershipWithRequeue: after a resignation the work begins again', async () => {
    const electorate = new Electorate()
    const { onElected } = interruptible()
    const { election, events } = await electorate.lead({ onElected, resignPause: 500 })
    await electorate.during(election.resign())
    await electorate.pass(1_000)
    expect(events).toEqual(['elected 1', 'resigned 1', 'elected 2'])
  })

  it('testErrorPolicies, testServerDying: without the store the work ends', async () => {
    const electorate = new Electorate()
    const { onElected, interruptions } = interruptible()
    const { events } = await electorate.lead({ onElected })
    electorate.isDown = true
    await electorate.pass(TTL)
    expect(interruptions).toMatchObject([{ name: 'LeaseLostError', reason: 'expired' }])
    expect(events).toEqual(['elected 1', 'lost 1: expired'])
  })

  it('testLeaderNodeDeleteOnInterrupt: a leader that resigns without the store leaves no leader behind', async () => {
    const electorate = new Electorate()
    const { election, errors } = await electorate.lead()
    electorate.isDown = true
    await electorate.during(election.stop())
    expect(errors).not.toEqual([])
    electorate.isDown = false
    await electorate.pass(TTL)
    expect(await electorate.create().election.leader()).toBeUndefined()
  })

  it('testRaceAtStateChanged: no work begins if the lease was lost before', async () => {
    const electorate = new Electorate()
    let works = 0
    const onElected = (): void => {
      works += 1
    }
    // The answer to the request takes longer than the lease lasts.
    let requests = 0
    const plan = ({ operation }: { operation: string }) => {
      if (operation !== 'acquire') return undefined
      requests += 1
      return requests === 1 ? ({ kind: 'answer-late', duration: 2 * TTL } as const) : ({ kind: 'hang' } as const)
    }
    electorate.start({ onElected, operationTimeout: 3_000 }, { plan })
    await electorate.pass(3 * TTL)
    expect(works).toBe(0)
  })

  it('testAutoRequeue: work that returns is done again in the next term', async () => {
    const electorate = new Electorate()
    const terms: bigint[] = []
    await electorate.lead({ onElected: ({ term }) => void terms.push(term), resignPause: 100 })
    await electorate.pass(1_000)
    expect(terms.length).toBeGreaterThan(2)
    expect(new Set(terms).size).toBe(terms.length)
  })

  it('testKillSessionThenClose…, testKillServerThenCloseShouldElectNewLeader: one leads after an outage, then the other', async () => {
    const electorate = new Electorate()
    await electorate.lead({ onElected: interruptible().onElected })
    await electorate.lead({ onElected: interruptible().onElected })
    electorate.isDown = true
    await electorate.pass(2 * TTL)
    expect(electorate.leaders).toEqual([])
    electorate.isDown = false
    await electorate.pass(TTL)
    const [leader, ...more] = electorate.leaders
    expect(more).toEqual([])
    await electorate.during(leader?.election.stop() ?? Promise.reject(new Error('no leader')))
    await electorate.pass(TTL)
    expect(electorate.leaders).toHaveLength(1)
    expect(electorate.leaders).not.toContain(leader)
  })

  it('testClosing: a candidate that stops does not disturb the leader, and a stopped leader does not lead', async () => {
    const electorate = new Electorate()
    const leader = await electorate.lead()
    const other = await electorate.lead()
    await electorate.during(other.election.stop())
    await electorate.pass(TTL)
    expect([leader.election.isLeader, other.election.isLeader]).toEqual([true, false])
    await electorate.during(leader.election.stop())
    expect(leader.election.isLeader).toBe(false)
  })

  it('testRotatingLeadership: each of five leads once before any leads again', async () => {
    const electorate = new Electorate()
    const order: number[] = []
    for (let place = 0; place < 5; place += 1) {
      electorate.start({ onElected: () => void order.push(place), resignPause: 100 })
    }
    await electorate.pass(3 * TTL)
    expect(order.length).toBeGreaterThanOrEqual(15)
    for (const round of [0, 1, 2]) expect(new Set(order.slice(5 * round, 5 * round + 5)).size).toBe(5)
  })
})

describe('LeaderLatch', () => {
  it('testUncreatedPathGetLeader: a name without a record has no leader', async () => {
    expect(await new Electorate().create().election.leader()).toBeUndefined()
  })

  it('testWatchedNodeDeletedOnReconnect: a candidate that waits leads when the record of the leader is deleted', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead()
    const second = await electorate.lead()
    await electorate.store.delete('job')
    await electorate.pass(TTL)
    expect(first.events[1]).toMatch(/^lost 1: (deleted|taken)$/)
    expect(second.events).toHaveLength(1)
    expect(electorate.leaders).toEqual([second])
  })

  it('testCheckLeaderShipTiming: candidates that resign at the same time pass the leadership on', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ resignPause: TTL })
    const second = await electorate.lead({ resignPause: TTL })
    await electorate.during(Promise.all([first.election.resign(), second.election.resign()]))
    await electorate.pass(1_000)
    expect(electorate.leaders).toEqual([second])
  })

  it('testSessionErrorPolicy: an outage shorter than the ttl costs nothing', async () => {
    const electorate = new Electorate()
    const { election, events } = await electorate.lead()
    electorate.isDown = true
    await electorate.pass(TTL / 2)
    electorate.isDown = false
    await electorate.pass(TTL)
    expect(election.isLeader).toBe(true)
    expect(events).toEqual(['elected 1'])
  })

  it('testProperCloseWithoutConnectionEstablished: stop ends a campaign without the store', async () => {
    const electorate = new Electorate()
    electorate.isDown = true
    const { election, events } = await electorate.lead()
    await electorate.during(election.stop())
    electorate.isDown = false
    await electorate.pass(TTL)
    expect(events).toEqual([])
    expect(electorate.clock.pending).toBe(0)
  })

  it('testResetRace: a resignation right after the start leaves one candidate', async () => {
    const electorate = new Electorate()
    const { election } = electorate.start()
    await electorate.during(election.resign())
    await electorate.pass(TTL)
    expect(election.isLeader).toBe(true)
    await electorate.during(election.stop())
    expect(await election.leader()).toBeUndefined()
  })

  it('testCreateDeleteRace: a stop right after the start leaves no leader behind', async () => {
    const electorate = new Electorate()
    const { election } = electorate.start()
    await electorate.during(election.stop())
    await electorate.pass(1_000)
    expect(await election.leader()).toBeUndefined()
  })

  it('testLostConnection: none of ten leads without the store, one when it is back', async () => {
    const electorate = new Electorate()
    for (let count = 0; count < 10; count += 1) await electorate.lead()
    expect(electorate.leaders).toHaveLength(1)
    electorate.isDown = true
    await electorate.pass(2 * TTL)
    expect(electorate.leaders).toHaveLength(0)
    electorate.isDown = false
    await electorate.pass(2 * TTL)
    expect(electorate.leaders).toHaveLength(1)
  })

  it('testCorrectWatching: a waiting candidate that stops makes nobody the leader', async () => {
    const electorate = new Electorate()
    for (let count = 0; count < 5; count += 1) await electorate.lead()
    await electorate.during(electorate.candidates[2]?.election.stop() ?? Promise.resolve())
    await electorate.pass(TTL)
    expect(electorate.leaders).toEqual([electorate.candidates[0]])
  })

  it('testWaiting, testBasic: candidates lead one at a time, in the order in which they started', async () => {
    const electorate = new Electorate()
    for (let count = 0; count < 10; count += 1) await electorate.lead()
    for (const candidate of electorate.candidates) {
      await electorate.pass(TTL)
      expect(electorate.leaders).toEqual([candidate])
      await electorate.during(candidate.election.stop())
    }
  })

  it('testCallbackSanity, testCallbackNotifyLeader: each that resigns in its listener is notified of every end', async () => {
    const electorate = new Electorate()
    for (let count = 0; count < 5; count += 1) {
      const { election } = electorate.start({ resignPause: 100 })
      let terms = 0
      election.on('elected', () => {
        terms += 1
        return void (terms === 1 ? election.resign() : election.stop())
      })
    }
    await electorate.pass(3 * TTL)
    for (const { events } of electorate.candidates) {
      expect(events.map((event) => event.split(' ')[0])).toEqual(['elected', 'resigned', 'elected', 'resigned'])
    }
  })

  it('testCallbackDontNotify: a candidate that never led is not notified when it stops', async () => {
    const electorate = new Electorate()
    const leader = await electorate.lead()
    const other = await electorate.lead()
    await electorate.during(other.election.stop())
    await electorate.during(leader.election.stop())
    expect(other.events).toEqual([])
    expect(leader.events).toEqual(['elected 1', 'resigned 1'])
  })

  it('testNoServerAtStart: a candidate is elected once when the store begins to answer', async () => {
    const electorate = new Electorate()
    electorate.isDown = true
    const { events, errors } = await electorate.lead()
    await electorate.pass(3 * TTL)
    electorate.isDown = false
    await electorate.pass(2 * TTL)
    expect(events).toHaveLength(1)
    expect(events[0]).toMatch(/^elected/)
    expect(errors).toEqual([])
  })

  it('testRelativePath: a wrong name is rejected when the election is made', () => {
    expect(() => new Electorate().create({ name: '' })).toThrow(LeaseNameError)
  })
})
