import type { Clock, Grant, RenewOutcome } from '@leasehold/core'
import type { Electorate } from './electorate.js'
import type { Floors } from './floors.js'
import { renewVerdict } from './renew-verdict.js'
import { Repairs } from './repairs.js'
import { Tally, type Vote } from './tally.js'
import { type Question, undecided } from './undecided.js'

/** For how long some grants are waited for while others of the same call are decided, in milliseconds. */
const GRACE = 100

type Outcomes = readonly (RenewOutcome | Error)[]

/** Renews grants where a majority has them, and sees to it that the others have them again. */
export class Heartbeats {
  readonly #electorate: Electorate
  readonly #held: Set<string>
  readonly #repairs: Repairs

  constructor(electorate: Electorate, floors: Floors, clock: Clock, held: Set<string>) {
    this.#electorate = electorate
    this.#held = held
    this.#repairs = new Repairs(electorate.members, floors, clock, (grantId) => held.has(grantId))
  }

  async renew(grant: Grant, signal: AbortSignal): Promise<RenewOutcome> {
    let outcome: RenewOutcome | undefined
    return await this.#electorate.poll<RenewOutcome, RenewOutcome>(
      {
        ask: (member, limit) => member.renew(grant, limit),
        decide: (tally) => {
          outcome = renewVerdict(tally.values, tally.majority)
          if (outcome === undefined && tally.isFinal) throw undecided(questionOf(grant), tally)
          if (outcome !== undefined) this.#note(grant, outcome)
          return outcome
        },
        afterwards: ({ votes }) => {
          if (outcome?.renewed) this.#repairs.afterHeartbeat(grant, votes.map(saidIn))
        },
      },
      signal,
    )
  }

  /** Those that cannot be decided soon after the others are unknown, so that no lease shares the fate of another. */
  async renewMany(grants: readonly Grant[], signal: AbortSignal): Promise<Outcomes> {
    const decided: (RenewOutcome | undefined)[] = grants.map(() => undefined)
    return await this.#electorate.poll<Outcomes, Outcomes>(
      {
        grace: GRACE,
        ask: (member, limit) => member.renewMany(grants, limit),
        decide: (tally) => {
          for (const [index, grant] of grants.entries()) {
            if (decided[index] !== undefined) continue
            const outcome = renewVerdict(outcomesOf(tally, index), tally.majority)
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
            this.#repairs.afterHeartbeat(
              grant,
              votes.map((vote) => outcomeIn(vote, index)),
            )
          }
        },
      },
      signal,
    )
  }

  #note({ grantId }: Grant, outcome: RenewOutcome): void {
    if (outcome.renewed) this.#held.add(grantId)
    else this.#held.delete(grantId)
  }
}

/** An error for each that is not decided; where that is all of them, the error of the first is thrown. */
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

function errorOf(grant: Grant, index: number, tally: Tally<Outcomes>): Error {
  const own = new Tally<RenewOutcome>(tally.size)
  for (const [place, vote] of tally.votes.entries()) {
    const outcome = vote !== undefined && 'value' in vote ? vote.value[index] : undefined
    if (outcome instanceof Error) own.votes[place] = { error: outcome }
    else if (outcome !== undefined) own.votes[place] = { value: outcome }
    else if (vote !== undefined && 'error' in vote) own.votes[place] = vote
  }
  return undecided(questionOf(grant), own)
}

function outcomesOf(tally: Tally<Outcomes>, index: number): RenewOutcome[] {
  return tally.votes.flatMap((vote) => outcomeIn(vote, index) ?? [])
}

function outcomeIn(vote: Vote<Outcomes> | undefined, index: number): RenewOutcome | undefined {
  const outcome = vote !== undefined && 'value' in vote ? vote.value[index] : undefined
  return outcome instanceof Error ? undefined : outcome
}

function saidIn(vote: Vote<RenewOutcome> | undefined): RenewOutcome | undefined {
  return vote !== undefined && 'value' in vote ? vote.value : undefined
}

function questionOf({ name }: Grant): Question {
  return { operation: 'heartbeat', leaseName: name }
}
