import { type Grant, isLocked, type Metadata } from '@leasehold/core'
import type { RenewOutcome, StoreCall } from '@leasehold/core/store'
import { raisedTo } from '@leasehold/core/store-kit'
import { TOKEN_KEY } from '@leasehold/redis/internal'
import { type Ballot, type Electorate, partOf, type QuorumMember } from './electorate.js'
import type { FencingTokens } from './fencing-tokens.js'
import { renewOutcome } from './outcomes.js'
import { candidateIn, latestOf, withRevision } from './records.js'
import { Tally, undecided } from './tally.js'

/** How long decided heartbeats wait for the others of the same call, in milliseconds. */
const GRACE = 100

/** How long a repair may take, in milliseconds; the next heartbeat begins another one. */
const REPAIR_LIMIT = 2_000

type Outcomes = readonly (RenewOutcome | Error)[]

type Ask<T> = Ballot<T, unknown>['ask']

/** Renews grants that a majority has, and restores them on the other servers. */
export class Heartbeats {
  readonly #electorate: Electorate
  readonly #tokens: FencingTokens
  /** The grants that this store knows to be held: how often their metadata was replaced, by grant id. */
  readonly #held = new Map<string, number>()
  readonly #repairing = new Set<string>()

  constructor(electorate: Electorate, tokens: FencingTokens) {
    this.#electorate = electorate
    this.#tokens = tokens
  }

  isHeld(grantId: string): boolean {
    return this.#held.has(grantId)
  }

  begin(grantId: string): void {
    if (!this.#held.has(grantId)) this.#held.set(grantId, 0)
  }

  end(grantId: string): void {
    this.#held.delete(grantId)
  }

  /** Marks metadata as later than all earlier metadata of the grant. */
  stamp({ grantId, fencingToken }: Grant, metadata: Metadata): Metadata {
    const revision = (this.#held.get(grantId) ?? 0) + 1
    if (this.#held.has(grantId)) this.#held.set(grantId, revision)
    return withRevision(metadata, fencingToken, revision)
  }

  renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    return this.#beatOne(grant, 'heartbeat', (member, own) => member.renew(grant, own), call)
  }

  update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    const stamped = this.stamp(grant, metadata)
    return this.#beatOne(grant, 'update', (member, own) => member.update(grant, stamped, own), call)
  }

  renewMany(grants: readonly Grant[], call: StoreCall): Promise<Outcomes> {
    return this.#beat(grants, 'heartbeat', (member, own) => member.renewMany(grants, own), call)
  }

  /** A server that has lost the grant is restored with the raised token. */
  async raiseToken(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    const raised = raisedTo(grant, token)
    const ask: Ask<RenewOutcome> = (member, whole, place) => {
      return this.#tokens.ask(place, grant.name, whole, (own) => member.raiseToken(grant, token, own))
    }
    const outcome = await this.#beatOne(raised, 'raise', ask, call)
    if (outcome.renewed) this.#tokens.note(raised.fencingToken)
    return outcome
  }

  async #beatOne(grant: Grant, operation: string, ask: Ask<RenewOutcome>, call: StoreCall): Promise<RenewOutcome> {
    const askOne: Ask<Outcomes> = async (member, own, place) => [await ask(member, own, place)]
    const outcomes = await this.#beat([grant], operation, askOne, call)
    // If the only outcome is an error, `#beat` has thrown it.
    return outcomes[0] as RenewOutcome
  }

  /**
   * Resolves with an error for each undecided grant; if that is all of them, rejects with the first. A grant that is not
   * decided soon after the others counts as unknown, so that one lease does not hold up another.
   */
  async #beat(grants: readonly Grant[], operation: string, ask: Ask<Outcomes>, call: StoreCall): Promise<Outcomes> {
    const decided: (RenewOutcome | undefined)[] = grants.map(() => undefined)
    const tally = await this.#electorate.poll<Outcomes, Tally<Outcomes>>(call, {
      grace: GRACE,
      ask,
      decide: (votes) => {
        for (const [index, grant] of grants.entries()) {
          if (decided[index] !== undefined) continue
          const outcome = renewOutcome(tallyOf(votes, index))
          if (outcome?.renewed === true) this.begin(grant.grantId)
          if (outcome?.renewed === false) this.end(grant.grantId)
          decided[index] = outcome
        }
        const isOver = votes.isFinal || (votes.isLate && decided.some((outcome) => outcome !== undefined))
        return isOver || !decided.includes(undefined) ? votes : undefined
      },
      afterwards: (votes) => {
        for (const [index, grant] of grants.entries()) {
          if (decided[index]?.renewed) this.#repairAll(grant, tallyOf(votes, index))
        }
      },
    })
    const outcomes = grants.map(({ name }, index) => {
      return decided[index] ?? undecided({ operation, leaseName: name }, tallyOf(tally, index))
    })
    const [first] = outcomes
    if (first instanceof Error && outcomes.every((outcome) => outcome instanceof Error)) throw first
    return outcomes
  }

  /**
   * After a majority has renewed a grant, restores it in the background on servers that have lost it or never had it. So it
   * survives later losses of other servers, such as restarts in turn.
   *
   * This is safe: the holder has its majority without this server, which refuses if it has another holder, and takes over
   * the fencing token. Servers on which the grant was broken or taken are left alone.
   */
  #repairAll(grant: Grant, { votes, majority }: Tally<RenewOutcome>): void {
    const outcomes = votes.map((vote) => (vote !== undefined && 'value' in vote ? vote.value : undefined))
    const sources = this.#electorate.members.filter((_, place) => outcomes[place]?.renewed)
    for (const [place, outcome] of outcomes.entries()) {
      const key = `${place} ${grant.grantId}`
      if (outcome === undefined || outcome.renewed || this.#repairing.has(key)) continue
      if (outcome.reason !== 'deleted' && outcome.reason !== 'expired') continue
      this.#repairing.add(key)
      // If it fails, the next heartbeat begins another repair.
      this.#repair(place, sources, majority, grant)
        .catch(() => {})
        .finally(() => this.#repairing.delete(key))
    }
  }

  /** Restores a grant, with the latest metadata of a majority that has renewed it: each server may have missed updates. */
  async #repair(place: number, sources: readonly QuorumMember[], majority: number, grant: Grant): Promise<void> {
    const { name, grantId } = grant
    await this.#electorate.within(REPAIR_LIMIT, 'the repair of a server', name, async (call) => {
      const reads = await Promise.all(sources.map((source) => source.read(name, partOf(call)).catch(() => undefined)))
      const records = reads.flatMap((record) => (record?.grantId === grantId && isLocked(record) ? [record] : []))
      if (records.length < majority) return
      const { [TOKEN_KEY]: _, ...metadata } = latestOf(records.map(candidateIn)) ?? {}
      const previous = latestOf(records.map((record) => record.previous))
      // It may be repeated when the server has learned a floor, and the lease may have been released by then.
      await this.#tokens.ask(place, name, call, async (own) => {
        if (this.isHeld(grantId)) await this.#electorate.members[place]?.repair(grant, metadata, previous, own)
      })
    })
  }
}

/** The votes on one of the grants. */
function tallyOf({ votes }: Tally<Outcomes>, index: number): Tally<RenewOutcome> {
  return new Tally(
    votes.map((vote) => {
      if (vote === undefined || 'error' in vote) return vote
      const outcome = vote.value[index]
      return outcome instanceof Error ? { error: outcome } : outcome && { value: outcome }
    }),
  )
}
