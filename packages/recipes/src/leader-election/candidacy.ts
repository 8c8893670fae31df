import type { Clock, Metadata, StoreLease } from '@leasehold/core'
import { callGuarded } from '@leasehold/core/internal'
import type { Places } from '../places.js'
import { toCandidateMetadata } from './candidates.js'

/** The rank of a candidate, or a function that returns it now. */
export type Rank = number | (() => number)

/**
 * After an election, the request that withdraws the candidate waits for this time, in milliseconds: the first moments of a term
 * belong to its work, which may share a connection pool with the store.
 */
const AFTER_ELECTION = 10

export interface CandidacyOptions {
  readonly places: Places
  readonly heartbeatInterval: number
  readonly rank: Rank
  readonly clock: Clock
  readonly report: (error: unknown) => void
}

/**
 * Shows that a candidate is ready, by a place among the candidates: its metadata are the rank of the candidate, and the grant id
 * under which it waits for the leadership. It sends one request after the other, until the record is up to date.
 */
export class Candidacy {
  readonly #options: CandidacyOptions
  /** The lease on the place that it had last. */
  #lease: StoreLease | undefined
  /** The grant id to show; `undefined`: none. */
  #grantId: string | undefined
  #lastRank = 0
  #shown: string | undefined
  #isFailing = false
  /** Whether something else is wanted since the last look. */
  #isDue = false
  #working: Promise<void> | undefined
  #cancelRefresh: (() => void) | undefined

  constructor(options: CandidacyOptions) {
    this.#options = options
  }

  /** The rank now. If the function throws or returns no number, that is reported, and the last rank stays. */
  get rank(): number {
    const { rank, report } = this.#options
    if (typeof rank === 'number') return rank
    callGuarded(() => {
      const next: unknown = rank()
      if (typeof next !== 'number' || !Number.isFinite(next)) throw new TypeError('rank must return a finite number')
      this.#lastRank = next
    }, report)
    return this.#lastRank
  }

  /** Shows that the candidate waits under this grant id, until `withdraw`. */
  offer(grantId: string): void {
    this.#grantId = grantId
    this.#follow()
  }

  /** The candidate was elected: withdraws it soon. Until then, the record shows a grant id under which nobody waits any more. */
  withdrawSoon(): void {
    this.#grantId = undefined
    this.#cancelRefresh?.()
    this.#cancelRefresh = this.#options.clock.schedule(AFTER_ELECTION, () => this.#follow())
  }

  /** Shows no longer that the candidate is ready. Resolves when that is written, or has failed. */
  async withdraw(): Promise<void> {
    this.#grantId = undefined
    this.#follow()
    await this.#working
  }

  async close(): Promise<void> {
    await this.withdraw()
    this.#cancelRefresh?.()
    this.#cancelRefresh = undefined
    await this.#lease?.close().catch(() => {})
  }

  #follow(): void {
    this.#isDue = true
    this.#working ??= this.#write().finally(() => {
      this.#working = undefined
      if (this.#isDue) this.#follow()
    })
  }

  async #write(): Promise<void> {
    const { clock, heartbeatInterval, report } = this.#options
    this.#cancelRefresh?.()
    this.#cancelRefresh = undefined
    try {
      while (!(await this.#isWritten()));
      this.#isFailing = false
    } catch (error) {
      // Tried again after an interval; the failures of an outage are reported once.
      if (!this.#isFailing) report(error)
      this.#isFailing = true
    }
    if (this.#grantId === undefined && !this.#isPlaced) return
    this.#cancelRefresh = clock.schedule(heartbeatInterval, () => this.#follow())
  }

  /** Makes one request if what is shown differs from what is wanted; resolves with whether it is the same. */
  async #isWritten(): Promise<boolean> {
    const grantId = this.#grantId
    this.#isDue = false
    if (grantId === undefined) {
      this.#shown = undefined
      if (this.#isPlaced) await this.#lease?.release()
      return this.#grantId === undefined
    }
    const metadata = toCandidateMetadata({ rank: this.rank, grantId })
    const next = JSON.stringify(metadata)
    const isHeld = this.#lease?.checkLease() === true
    if (isHeld && this.#shown === next) return true
    const isShown = isHeld ? await this.#lease?.update(metadata) : await this.#takePlace(metadata)
    // If all places were taken meanwhile: asked again after an interval.
    this.#shown = isShown ? next : undefined
    return this.#grantId === grantId
  }

  get #isPlaced(): boolean {
    return this.#lease !== undefined && this.#lease.state !== 'idle'
  }

  /** Takes the last place again, or another one. */
  async #takePlace(metadata: Metadata): Promise<boolean> {
    if (await this.#lease?.acquire({ metadata, keepAlive: false })) return true
    this.#lease = (await this.#options.places.take(metadata))?.lease
    return this.#lease !== undefined
  }
}
