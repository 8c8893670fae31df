import {
  LeaseConflictError,
  type LeaseLost,
  LeaseLostError,
  type Metadata,
  readLease,
  type StoreLease,
} from '@leasehold/core'
import { Deferred } from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { endsWithin } from '../waiting.js'
import { candidateOf, type ReadyCandidate, readyCandidates } from './candidates.js'
import { hasChosen, withSuccessor } from './leader.js'
import type { ObserverEnvironment } from './observe-leader.js'

/** The new leader after a transfer. */
export interface TransferredTerm {
  readonly owner: string
  /** The number of its term. */
  readonly term: bigint
}

export interface SuccessionOptions {
  /** The lease of the leader. */
  readonly lease: StoreLease
  readonly owner: string
  /** As the user gave them. */
  readonly metadata: Metadata
  readonly environment: ObserverEnvironment
  readonly details: LeaseErrorDetails
}

/** A transfer that was asked for, until the work of the term has ended. */
interface Transfer {
  readonly to: string
  readonly candidate: ReadyCandidate
  readonly since: number
  readonly outcome: Deferred<TransferredTerm>
}

/** A candidate that was found less than this time ago is not looked at again before the transfer. Milliseconds. */
const SURE = 50

/** How long a leader waits until the record shows whom it chose. Milliseconds. */
const LONGEST_MARK = 100

/** Finds the successor of the leader of this process, and hands the lease over to it. */
export class Succession {
  readonly #options: SuccessionOptions
  #transfer: Transfer | undefined

  constructor(options: SuccessionOptions) {
    this.#options = options
  }

  /** Whether a successor was chosen, and the work of the term has not ended yet. */
  get isUnderWay(): boolean {
    return this.#transfer !== undefined
  }

  /** This candidate, or the best one (`'best'`), unless it is this process. `undefined` if it is not ready. */
  async find(to: string): Promise<ReadyCandidate | undefined> {
    const { environment, owner: self } = this.#options
    const others = (await readyCandidates(environment)).filter(({ owner }) => owner !== self)
    return to === 'best' ? others[0] : others.find(({ owner }) => owner === to)
  }

  /**
   * Chooses the successor, and says so in the record while the work of the leader still goes on: the successor then begins at
   * once, without a look for a better candidate. If it is not written in time, the successor looks. Resolves with the outcome
   * that `complete` settles.
   */
  async choose(to: string, candidate: ReadyCandidate): Promise<Deferred<TransferredTerm>> {
    const { lease, owner, metadata, environment } = this.#options
    const outcome = new Deferred<TransferredTerm>()
    // It may be settled after the caller has gone.
    outcome.promise.catch(() => {})
    this.#transfer = { to, candidate, since: environment.clock.now(), outcome }
    const marked = lease.update(withSuccessor(owner, metadata, candidate.owner)).catch(() => {})
    await endsWithin(environment.clock, LONGEST_MARK, marked)
    return outcome
  }

  /**
   * The work of the term has ended: hands the lease over to the successor that was chosen, unless it was `lost`. Returns `false`
   * if the lease is still held, or was lost.
   */
  async complete(lost: LeaseLost | undefined): Promise<boolean> {
    const transfer = this.#transfer
    this.#transfer = undefined
    if (transfer === undefined) return false
    if (lost === undefined) return await this.#handOver(transfer)
    transfer.outcome.reject(this.#lostBefore(lost))
    return false
  }

  /**
   * Before its work begins, a new leader of this rank hands the lease over to a candidate of a higher one, unless the last
   * leader chose it. Returns whether it did. `isWanted`: whether it still leads and is not stopping.
   */
  async passOn(rank: number, isWanted: () => boolean): Promise<boolean> {
    const { lease, owner, environment } = this.#options
    if (hasChosen(lease.previous, owner)) return false
    let best: ReadyCandidate | undefined
    try {
      best = await this.find('best')
    } catch (error) {
      // The best candidate is not known; this one is ready.
      environment.report(error)
    }
    if (best === undefined || best.rank <= rank || !isWanted()) return false
    // If the outcome is unknown, the lease is not held here any more.
    await lease.handOff({ owner: best.owner, grantId: best.grantId }).catch(environment.report)
    return true
  }

  noCandidate(to: string): LeaseConflictError {
    const { environment, details } = this.#options
    const none = to === 'best' ? 'no candidate is ready' : `'${to}' is no candidate that is ready`
    const message = `election '${environment.name}': ${none}: let it start with advertise, rank or prepare, and look at candidates()`
    return new LeaseConflictError(message, details)
  }

  async #handOver({ to, candidate, since, outcome }: Transfer): Promise<boolean> {
    const { lease, environment } = this.#options
    let next: ReadyCandidate | undefined = candidate
    try {
      // The work took a while: the candidate may have gone, or waits under another grant id.
      if (environment.clock.now() - since >= SURE) next = await this.#findAgain(to, candidate)
    } catch {
      // The candidate as it was found is the best guess.
    }
    if (next === undefined) {
      outcome.reject(this.noCandidate(to))
      return false
    }
    try {
      const { owner, fencingToken } = await lease.handOff({ owner: next.owner, grantId: next.grantId })
      outcome.resolve({ owner, term: BigInt(fencingToken) })
    } catch (error) {
      outcome.reject(error)
    }
    return true
  }

  /** The candidate, if it still waits; otherwise another one, if any will do. */
  async #findAgain(to: string, { owner, record: name }: ReadyCandidate): Promise<ReadyCandidate | undefined> {
    const { store, timeouts, clock } = this.#options.environment
    const record = await readLease(store, name, { timeout: timeouts.operationTimeout, clock })
    const same = record && candidateOf(record)
    // Another candidate may have its place now.
    return same?.owner === owner ? same : await this.find(to)
  }

  #lostBefore({ reason }: LeaseLost): LeaseLostError {
    const { environment, details } = this.#options
    const message = `election '${environment.name}': the term was lost (${reason}) before it was transferred`
    return new LeaseLostError(message, { ...details, reason })
  }
}
