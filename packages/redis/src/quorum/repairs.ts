import { type Clock, type Grant, LeaseTimeoutError, type RenewOutcome } from '@leasehold/core'
import type { Floors } from './floors.js'
import type { QuorumMember } from './quorum-member.js'
import { KIND } from './undecided.js'

/** How long one may take, in milliseconds; the next heartbeat begins another. */
const LIMIT = 2_000

/**
 * Gives a grant back to servers that have lost it, or never had it, while a majority has renewed it: so that it outlives the
 * loss of others later on, as where servers are restarted in turn.
 *
 * That is safe, because it only locks more. The server refuses where it has granted the name to another owner since; the
 * majority by which the holder acts is without it, so nobody else has one; and it takes over the fencing token. A server
 * that does not have the grant any more because it was broken or taken is left alone.
 */
export class Repairs {
  readonly #members: readonly QuorumMember[]
  readonly #floors: Floors
  readonly #clock: Clock
  readonly #isHeld: (grantId: string) => boolean
  readonly #underWay = new Set<string>()

  /** Nothing is done for a grant that is not held here any more. */
  constructor(members: readonly QuorumMember[], floors: Floors, clock: Clock, isHeld: (grantId: string) => boolean) {
    this.#members = members
    this.#floors = floors
    this.#clock = clock
    this.#isHeld = isHeld
  }

  /** In the background, after a heartbeat that a majority has confirmed; by place, what the servers said to it. */
  afterHeartbeat(grant: Grant, outcomes: readonly (RenewOutcome | undefined)[]): void {
    const source = this.#members[outcomes.findIndex((outcome) => outcome?.renewed)]
    if (source === undefined) return
    for (const place of this.#members.keys()) {
      const outcome = outcomes[place]
      if (outcome === undefined || outcome.renewed) continue
      const key = `${place} ${grant.grantId}`
      if ((outcome.reason !== 'deleted' && outcome.reason !== 'expired') || this.#underWay.has(key)) continue
      this.#underWay.add(key)
      // Nobody is there to be told: the next heartbeat says whether it helped.
      this.#repair(place, source, grant)
        .catch(() => {})
        .finally(() => this.#underWay.delete(key))
    }
  }

  async #repair(place: number, source: QuorumMember, grant: Grant): Promise<void> {
    const member = this.#members[place]
    if (member === undefined) return
    const limit = new AbortController()
    const { name, grantId } = grant
    const cancel = this.#clock.schedule(LIMIT, () => {
      limit.abort(new LeaseTimeoutError('a server was not repaired in time', { leaseName: name, store: KIND }))
    })
    try {
      const record = await source.read(name, limit.signal)
      if (record?.grantId !== grantId || record.state !== 'leased') return
      // Asked again when the server has learned a floor, by when the lease may have been released.
      const repair = async (): Promise<unknown> =>
        this.#isHeld(grantId) ? await member.repair(grant, record.metadata, limit.signal) : undefined
      await this.#floors.ask(place, name, repair)
    } finally {
      cancel()
    }
  }
}
