import type { Clock, Grant, Metadata } from '@leasehold/core'
import type { RenewOutcome, StoreCall } from '@leasehold/core/store'
import { type CallGroup, type Electorate, type QuorumMember, within } from './electorate.js'
import type { Floors } from './floors.js'
import { renewOutcome } from './outcomes.js'
import { withRevision } from './records.js'
import { Tally, undecided, type Vote } from './tally.js'

/** How long the heartbeats of some grants wait for the others of the same call, in milliseconds. */
const GRACE = 100

/** How long a repair may take, in milliseconds; the next heartbeat begins another one. */
const REPAIR_LIMIT = 2_000

type Outcomes = readonly (RenewOutcome | Error)[]

/** Renews grants that a majority has, and restores them on the other servers. */
export class Heartbeats {
  readonly #electorate: Electorate
  readonly #floors: Floors
  readonly #clock: Clock
  /** The grants that this store knows to be held: how often their metadata was replaced, by grant id. */
  readonly #held = new Map<string, number>()
  readonly #repairing = new Set<string>()

  constructor(electorate: Electorate, floors: Floors, clock: Clock) {
    this.#electorate = electorate
    this.#floors = floors
    this.#clock = clock
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
    return this.#beat(grant, 'heartbeat', (member, calls) => member.renew(grant, calls.newCall()), call)
  }

  update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    const stamped = this.stamp(grant, metadata)
    return this.#beat(grant, 'update', (member, calls) => member.update(grant, stamped, calls.newCall()), call)
  }

  /** A grant that is not decided soon after the others counts as unknown, so that one lease does not hold up another. */
  async renewMany(grants: readonly Grant[], call: StoreCall): Promise<Outcomes> {
    const decided: (RenewOutcome | undefined)[] = grants.map(() => undefined)
    return await this.#electorate.poll<Outcomes, Outcomes>(
      {
        grace: GRACE,
        ask: (member, calls) => member.renewMany(grants, calls.newCall()),
        decide: (tally) => {
          for (const [index, grant] of grants.entries()) {
            if (decided[index] !== undefined) continue
            const outcome = renewOutcome(outcomesAt(tally, index), tally.majority)
            if (outcome !== undefined) this.#note(grant, outcome)
            decided[index] = outcome
          }
          const isOver = tally.isFinal || (tally.isLate && decided.some((outcome) => outcome !== undefined))
          if (!isOver && decided.includes(undefined)) return undefined
          return allOf(grants, decided, tally)
        },
        afterwards: ({ votes }) => {
          for (const [index, grant] of grants.entries()) {
            if (!decided[index]?.renewed) continue
            this.#repairAll(
              grant,
              votes.map((vote) => outcomeAt(vote, index)),
            )
          }
        },
      },
      call,
    )
  }

  async #beat(
    grant: Grant,
    operation: string,
    ask: (member: QuorumMember, calls: CallGroup) => Promise<RenewOutcome>,
    call: StoreCall,
  ): Promise<RenewOutcome> {
    let outcome: RenewOutcome | undefined
    return await this.#electorate.poll<RenewOutcome, RenewOutcome>(
      {
        ask,
        decide: (tally) => {
          outcome = renewOutcome(tally.values, tally.majority)
          if (outcome === undefined && tally.isFinal) throw undecided({ operation, leaseName: grant.name }, tally)
          if (outcome !== undefined) this.#note(grant, outcome)
          return outcome
        },
        afterwards: ({ votes }) => {
          if (!outcome?.renewed) return
          this.#repairAll(
            grant,
            votes.map((vote) => (vote !== undefined && 'value' in vote ? vote.value : undefined)),
          )
        },
      },
      call,
    )
  }

  #note({ grantId }: Grant, outcome: RenewOutcome): void {
    if (outcome.renewed) this.begin(grantId)
    else this.end(grantId)
  }

  /**
   * Restores a grant on servers that have lost it, or never had it, after a majority has renewed it: so that it outlives
   * later losses of other servers, such as restarts in turn. Runs in the background. The outcomes are by place.
   *
   * This is safe because it only locks more. The server refuses if it has granted the name to another owner since; the
   * majority of the holder does not need it, so no other owner has one; and it takes over the fencing token. A server that
   * refuses the grant because it was broken or taken is left alone.
   */
  #repairAll(grant: Grant, outcomes: readonly (RenewOutcome | undefined)[]): void {
    const source = this.#electorate.members[outcomes.findIndex((outcome) => outcome?.renewed)]
    if (source === undefined) return
    for (const [place, member] of this.#electorate.members.entries()) {
      const outcome = outcomes[place]
      if (outcome === undefined || outcome.renewed) continue
      const key = `${place} ${grant.grantId}`
      if ((outcome.reason !== 'deleted' && outcome.reason !== 'expired') || this.#repairing.has(key)) continue
      this.#repairing.add(key)
      // If it fails, the next heartbeat begins another repair.
      this.#repair(place, member, source, grant)
        .catch(() => {})
        .finally(() => this.#repairing.delete(key))
    }
  }

  async #repair(place: number, member: QuorumMember, source: QuorumMember, grant: Grant): Promise<void> {
    const { name, grantId } = grant
    await within(this.#clock, REPAIR_LIMIT, 'the repair of a server', name, async (calls) => {
      const record = await source.read(name, calls.newCall())
      if (record?.grantId !== grantId || record.state !== 'leased') return
      const { metadata, previous } = record
      // It may be repeated when the server has learned a floor, and the lease may have been released by then.
      await this.#floors.ask(place, name, async () => {
        if (this.isHeld(grantId)) await member.repair(grant, metadata, previous, calls.newCall())
      })
    })
  }
}

/** An error stands for each undecided grant. If that is all of them, throws the first. */
function allOf(
  grants: readonly Grant[],
  decided: readonly (RenewOutcome | undefined)[],
  tally: Tally<Outcomes>,
): Outcomes {
  const outcomes = grants.map((grant, index) => decided[index] ?? errorOf(grant, index, tally))
  const [first] = outcomes
  if (first instanceof Error && outcomes.every((outcome) => outcome instanceof Error)) throw first
  return outcomes
}

function errorOf({ name }: Grant, index: number, tally: Tally<Outcomes>): Error {
  const own = new Tally<RenewOutcome>(tally.size)
  for (const [place, vote] of tally.votes.entries()) {
    const outcome = vote !== undefined && 'value' in vote ? vote.value[index] : undefined
    if (outcome instanceof Error) own.votes[place] = { error: outcome }
    else if (outcome !== undefined) own.votes[place] = { value: outcome }
    else if (vote !== undefined && 'error' in vote) own.votes[place] = vote
  }
  return undecided({ operation: 'heartbeat', leaseName: name }, own)
}

function outcomesAt(tally: Tally<Outcomes>, index: number): RenewOutcome[] {
  return tally.votes.flatMap((vote) => outcomeAt(vote, index) ?? [])
}

function outcomeAt(vote: Vote<Outcomes> | undefined, index: number): RenewOutcome | undefined {
  const outcome = vote !== undefined && 'value' in vote ? vote.value[index] : undefined
  return outcome instanceof Error ? undefined : outcome
}
