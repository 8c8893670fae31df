import type { RecipeMutant } from '../support/mutants.js'

const election = 'leader-election/leader-election.ts'
const succession = 'leader-election/succession.ts'
const history = 'leader-election/leader-history.ts'

/** Bugs of an election. Some are known from other libraries. */
export const mutants: readonly RecipeMutant[] = [
  {
    name: 'a transfer hands the lease over before the work has ended',
    edits: [
      {
        file: election,
        find: '    this.#endTerm()\n    await this.#withinLimit(this.#leading, timeout)\n    return',
        replace:
          '    this.#endTerm()\n    void this.#lease.handOff({ owner: candidate.owner, grantId: candidate.grantId }).catch(() => {})\n    ' +
          'await this.#withinLimit(this.#leading, timeout)\n    return',
      },
    ],
    caughtBy: { law: 'a transfer passes the leadership on in one step, to the candidate that was asked for' },
  },
  {
    name: 'a transfer goes to the best candidate, whoever was asked for',
    edits: [
      {
        file: succession,
        find: "to === 'best' ? others[0] : others.find(({ owner }) => owner === to)",
        replace: 'others[0]',
      },
    ],
    caughtBy: { law: 'a transfer passes the leadership on in one step, to the candidate that was asked for' },
  },
  {
    name: 'a new leader keeps the leadership though a better candidate is ready',
    edits: [{ file: succession, find: 'best.rank <= rank', replace: 'best.rank <= Infinity' }],
    caughtBy: { law: 'the best candidate that is ready is next when the leader resigns' },
  },
  {
    name: 'a transfer without a candidate resigns',
    edits: [
      {
        file: election,
        find: '    if (candidate === undefined) throw this.#succession.noCandidate(to)\n',
        replace:
          '    if (candidate === undefined) this.#endTerm()\n    if (candidate === undefined) throw this.#succession.noCandidate(to)\n',
      },
    ],
    caughtBy: { law: 'without a candidate, a transfer is refused and the leader stays' },
  },
  {
    name: 'a new leader is shown with the metadata of the last one',
    edits: [{ file: 'leader-election/leader.ts', find: 'of === undefined || of === owner', replace: 'true' }],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'isLeader is true until the loss is reported',
    edits: [{ file: election, find: 'return this.#lease.checkLease()', replace: 'return this.#term !== undefined' }],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'the next campaign does not wait for the work of a lost term',
    edits: [
      {
        file: election,
        find: 'const error = await term.carryOut(this.#options.onElected)',
        replace:
          'const error = await Promise.race([term.carryOut(this.#options.onElected), ' +
          'new Promise((resolve) => this.#lease.signal.addEventListener("abort", () => resolve(undefined)))])',
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'resign and stop release the lease before the work has ended',
    edits: [
      {
        file: election,
        find: "this.#term?.end(new LeaseLostError(message, { ...this.#details, reason: 'released' }))",
        replace:
          "this.#term?.end(new LeaseLostError(message, { ...this.#details, reason: 'released' })); " +
          'if (this.#term !== undefined) void this.#lease.release().catch(() => {})',
      },
    ],
    caughtBy: { law: 'a leader that resigns keeps the lease until its work has ended' },
  },
  {
    name: 'resign does not pause before the next campaign',
    edits: [
      {
        file: election,
        find: "term.lost === undefined || term.lost.reason === 'max-hold' ? resignPause : 0",
        replace: 'resignPause * 0',
      },
    ],
    caughtBy: { law: 'a leader that resigns without rivals leads again after the pause' },
  },
  {
    name: 'a stopped candidate goes on waiting',
    edits: [{ file: election, find: 'signal: this.stopping.signal,', replace: '' }],
    caughtBy: { law: 'a candidate that stops while it waits does not lead later' },
  },
  {
    name: 'the signal of the work does not abort at a loss',
    edits: [{ file: election, find: 'term.end(signal.reason)\n', replace: '\n' }],
    caughtBy: { law: 'a leader without the store stops leading by itself, its signal aborts, and another one leads' },
  },
  {
    name: 'a leader without metadata shows those of the last leader',
    edits: [
      {
        file: election,
        find: '        metadata,\n        keepAlive',
        replace: '        ...(Object.keys(metadata).length > 1 ? { metadata } : {}),\n        keepAlive',
      },
    ],
    caughtBy: { law: 'everyone learns who leads, with the metadata of this leader' },
  },
  {
    name: 'healthy does not look at the ttl',
    edits: [
      {
        file: election,
        find: 'return this.clock.now() < this.#expiresAt',
        replace: 'return true',
      },
    ],
    caughtBy: { law: 'is unhealthy while work goes on for longer than a ttl after the last heartbeat' },
  },
  {
    name: 'an observer reports a leader at every read',
    edits: [{ file: history, find: 'if (isStale || isSameLeader(this.#leader, leader))', replace: 'if (isStale)' }],
    caughtBy: { law: 'an observer sees each leader once, in the order of the terms' },
  },
  {
    name: 'an observer reports a vacancy at every read',
    edits: [{ file: history, find: '!this.#isKnown || last !== undefined', replace: 'true' }],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'an observer does not look for a new leader while there is none',
    edits: [
      {
        file: 'leader-election/observe-leader.ts',
        find: 'longest = jittered(Math.min(usual * FIRST_PAUSE * GROWTH ** vacancies, usual))',
        replace: 'longest = usual * 1e6',
      },
    ],
    caughtBy: { check: ['no-progress'] },
  },
]
