import { randomUUID } from 'node:crypto'
import type { Grant } from '@leasehold/core'
import { type Electorate, partOf } from './electorate.js'

/** How long a cleanup may take, in milliseconds; later the locks expire. */
const LIMIT = 1_000

/** A claim that is not repeated is forgotten after this time, in milliseconds; waiters repeat theirs within minutes. */
const FORGOTTEN_AFTER = 3_600_000

interface Abandoned {
  /** How many attempts of the claim were taken back. */
  readonly attempts: number
  readonly at: number
}

/** Takes attempts without a majority back, in the background, so that challengers need not wait for a ttl. */
export class Cleanup {
  readonly ids = new AttemptIds()
  readonly #electorate: Electorate
  readonly #underWay = new Set<Promise<void>>()

  constructor(electorate: Electorate) {
    this.#electorate = electorate
  }

  /**
   * Takes back the grant of the current attempt of a claim at these places. Servers that are yet to answer get the attempt
   * first: a connection keeps order.
   */
  begin(claimId: string, grant: Grant, places: readonly number[]): void {
    this.ids.abandon(claimId, this.#electorate.clock.now())
    const work = this.#electorate.within(LIMIT, 'the cleanup of a server', grant.name, async (call) => {
      await Promise.allSettled(places.map((place) => this.#electorate.members[place]?.retract(grant, partOf(call))))
    })
    // A lock that is left expires.
    const ended = work.finally(() => this.#underWay.delete(ended))
    this.#underWay.add(ended)
  }

  async ended(): Promise<void> {
    await Promise.all(this.#underWay)
  }
}

/**
 * The grant ids of attempts. The first attempt of a claim has the proposed id. After an attempt was taken back, the next one
 * has another id: a late release of the old attempt must not free the grant of a later one.
 */
class AttemptIds {
  /** Tells these attempts from those of other processes under the same id. */
  readonly #mark = `~${randomUUID().slice(0, 8)}~`
  /** By the proposed grant id, the least recently used first. */
  readonly #abandoned = new Map<string, Abandoned>()

  idOf(grantId: string): string {
    const abandoned = this.#abandoned.get(grantId)
    return abandoned === undefined ? grantId : `${grantId}${this.#mark}${abandoned.attempts}`
  }

  /** Notes that the current attempt is taken back: its id is never used again. */
  abandon(grantId: string, at: number): void {
    const attempts = (this.#abandoned.get(grantId)?.attempts ?? 0) + 1
    this.#abandoned.delete(grantId)
    this.#abandoned.set(grantId, { attempts, at })
    for (const [oldest, { at: usedAt }] of this.#abandoned) {
      if (at - usedAt < FORGOTTEN_AFTER) return
      this.#abandoned.delete(oldest)
    }
  }

  /** Whether an attempt with this id was taken back: a server that still has it locks the name without a holder. */
  isAbandoned(id: string): boolean {
    if (this.#abandoned.size === 0) return false
    const [grantId, attempt] = this.#parse(id)
    return attempt < (this.#abandoned.get(grantId)?.attempts ?? 0)
  }

  /** Forgets a claim that has ended. */
  forget(id: string): void {
    if (this.#abandoned.size > 0) this.#abandoned.delete(this.#parse(id)[0])
  }

  #parse(id: string): [grantId: string, attempt: number] {
    const end = id.lastIndexOf(this.#mark)
    return end < 0 ? [id, 0] : [id.slice(0, end), Number(id.slice(end + this.#mark.length))]
  }
}
