import type { RenewOutcome, RenewRefusal } from '@leasehold/core'
import { majorityHolder } from './agreement.js'

/** The first that any server says is told: it tells most of what has happened. */
const TELLING: readonly RenewRefusal[] = ['taken', 'broken', 'deleted', 'expired']

/**
 * What the answers to a heartbeat come to. Refused where a majority refuses: less than that is left, and what a server has
 * lost it is not given again by a heartbeat.
 */
export function renewVerdict(outcomes: readonly RenewOutcome[], majority: number): RenewOutcome | undefined {
  const refusals = outcomes.filter((outcome) => !outcome.renewed)
  if (outcomes.length - refusals.length >= majority) return { renewed: true }
  if (refusals.length < majority) return undefined
  const reason = TELLING.find((telling) => refusals.some((refusal) => refusal.reason === telling)) ?? 'expired'
  const holder = majorityHolder(
    refusals.flatMap((refusal) => refusal.holder ?? []),
    majority,
  )
  return { renewed: false, reason, ...(holder === undefined ? {} : { holder }) }
}
