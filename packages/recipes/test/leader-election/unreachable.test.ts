import { type LeaseStore, LeaseUnauthorisedError, type Logger, MemoryLeaseStore } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'

const TTL = 10_000

/** A candidate over a store that fails with `failure` while there is one. */
function createCandidate() {
  const clock = new VirtualClock()
  const lines: string[] = []
  const events: string[] = []
  const broken: { failure?: Error | undefined } = {}
  const plan = () =>
    broken.failure === undefined ? undefined : ({ kind: 'fail-before', error: broken.failure } as const)
  const store: LeaseStore = new FaultyStore(new MemoryLeaseStore({ clock }), { plan, clock })
  const log = (message: string, details?: unknown): void => void lines.push(`${message} ${details ?? ''}`.trim())
  const logger: Logger = { debug() {}, info: log, warn: log, error: log }
  const times = { heartbeatTimeout: TTL, heartbeatInterval: 2_000, operationTimeout: 2_000 }
  const election = new LeaderElection(store, { name: 'job', owner: 'me', ...times, clock, logger, keepAlive: false })
  election.on('unreachable', ({ cause }) => events.push(String((cause as { code?: unknown }).code)))
  election.on('reachable', () => events.push('reachable')).on('elected', () => events.push('elected'))
  onTestFinished(() => {
    void election.stop()
  })
  return { clock, lines, events, broken, election }
}

describe('an election whose store cannot be used', () => {
  it.for([
    ['cannot be reached', new Error('connect ECONNREFUSED'), 'unavailable'],
    ['refuses the password', new LeaseUnauthorisedError('wrong password'), 'unauthorised'],
  ] as const)('says so once if it %s, and again when it answers', async ([, failure, code]) => {
    const { clock, lines, events, broken, election } = createCandidate()
    broken.failure = failure
    election.start()
    await clock.advance(5_000)
    expect(events).toEqual([code])
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(failure.message)
    expect(lines[0]).not.toContain('\n')
    await clock.advance(600_000)
    expect(lines.length).toBeLessThan(9)
    broken.failure = undefined
    await clock.advance(20_000)
    expect(events).toEqual([code, 'reachable', 'elected'])
    expect(lines.filter((line) => line.includes('answered again'))).toHaveLength(1)
  })

  it('is not healthy once that has lasted for longer than a ttl', async () => {
    const { clock, broken, election } = createCandidate()
    broken.failure = new Error('connect ECONNREFUSED')
    election.start()
    await clock.advance(TTL - 1)
    expect(election.healthy).toBe(true)
    await clock.advance(TTL)
    expect(election.healthy).toBe(false)
    broken.failure = undefined
    await clock.advance(20_000)
    expect([election.healthy, election.isLeader]).toEqual([true, true])
  })

  it('gives each failure that is logged to a listener of error instead', async () => {
    const { clock, lines, broken, election } = createCandidate()
    const errors: unknown[] = []
    election.on('error', (error) => errors.push(error))
    broken.failure = new LeaseUnauthorisedError('wrong password')
    election.start()
    await clock.advance(5_000)
    expect([errors, lines]).toEqual([[broken.failure], []])
  })
})
