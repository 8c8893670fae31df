import { type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { LeaderElection, type LeaderElectionOptions } from '@leasehold/recipes'
import { type FaultPlan, FaultyStore, VirtualClock } from '@leasehold/testkit'

/** Of the leases, in milliseconds. */
export const TTL = 10_000

const times = { heartbeatTimeout: TTL, heartbeatInterval: 1_000, operationTimeout: 500 }

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** An election with its events, as texts. */
export interface Candidate {
  readonly election: LeaderElection
  readonly events: string[]
  readonly errors: unknown[]
}

/** Candidates over one store in memory, in virtual time. */
export class Electorate {
  readonly clock = new VirtualClock()
  readonly store = new MemoryLeaseStore({ clock: this.clock })
  readonly candidates: Candidate[] = []
  /** Whether the store gives no answer to anyone. */
  isDown = false

  /** One more candidate, which is not started. Its client can be given faults of its own. */
  create(options: Partial<LeaderElectionOptions> = {}, own: { plan?: FaultPlan; store?: LeaseStore } = {}): Candidate {
    const { clock } = this
    const plan: FaultPlan = (call) => (this.isDown ? { kind: 'hang' } : own.plan?.(call))
    const store = own.store ?? new FaultyStore(this.store, { clock, plan })
    const owner = `candidate-${this.candidates.length}`
    const election = new LeaderElection(store, { name: 'job', owner, ...times, clock, logger: silent, ...options })
    const events: string[] = []
    const errors: unknown[] = []
    election.on('elected', (term) => void events.push(`elected ${term}`))
    election.on('resigned', (term) => void events.push(`resigned ${term}`))
    election.on('lost', (term, { reason }) => void events.push(`lost ${term}: ${reason}`))
    election.on('error', (error) => void errors.push(error))
    const candidate = { election, events, errors }
    this.candidates.push(candidate)
    return candidate
  }

  /** One more candidate, which campaigns. */
  start(options: Partial<LeaderElectionOptions> = {}, own: { plan?: FaultPlan } = {}): Candidate {
    const candidate = this.create(options, own)
    candidate.election.start()
    return candidate
  }

  /** A candidate that leads. */
  async lead(options: Partial<LeaderElectionOptions> = {}): Promise<Candidate> {
    const candidate = this.start(options)
    await this.clock.settle()
    return candidate
  }

  get leaders(): readonly Candidate[] {
    return this.candidates.filter(({ election }) => election.isLeader)
  }

  pass(duration: number): Promise<void> {
    return this.clock.advance(duration)
  }

  /** Lets time pass until the promise is settled; resolves and rejects as it does. */
  async during<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const settle = (): void => {
      isSettled = true
    }
    promise.then(settle, settle)
    for (let turns = 0; turns < 1_000 && !isSettled; turns += 1) await this.pass(TTL / 100)
    if (!isSettled) throw new Error(`not settled within ${10 * TTL} ms`)
    return await promise
  }
}
