import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { faultOfInterval, misfit, type OptionFault } from '../errors/option-faults.js'
import { faultOfNames, type OptionNames } from '../errors/option-names.js'
import { fittingTimes, type GivenTimes } from './default-timeouts.js'
import type { RenewalTimes } from './renewal-strategy.js'

/** The goal from which Leasehold chooses the durations of a lease. */
export interface LeaseObjective {
  /**
   * How long after the death of a holder the next one holds the lease, in milliseconds, while somebody waits for it and the
   * store is well.
   */
  readonly failover: number
  /** How many times a year a lease may be lost although its holder and its store live; such as 1, or 0.1. */
  readonly falseLossesPerYear: number
}

const objectiveNames: OptionNames<LeaseObjective> = { failover: true, falseLossesPerYear: true }

/** The least `failover`, in milliseconds: the ttl of a shorter one would leave no validity. */
const LEAST_FAILOVER = 120

/** The part of the failover that is kept for the waiters while no round trip is known, and its longest, in milliseconds. */
const STARTING_REACTION = 0.1
const LONGEST_STARTING_REACTION = 1_000

/** Throws a `LeaseConfigurationError` unless it is an objective. `others`: the durations and the strategy that were given. */
export function checkObjective(objective: LeaseObjective, others: GivenTimes & { readonly strategy?: unknown }): void {
  const fault = faultOfObjective(objective) ?? faultOfBoth(others)
  if (fault !== undefined) throw new LeaseConfigurationError(fault)
}

function faultOfObjective(objective: unknown): OptionFault {
  const example = 'an object such as { failover: 5_000, falseLossesPerYear: 1 }'
  if (typeof objective !== 'object' || objective === null) return misfit('objective', example, objective)
  const { failover, falseLossesPerYear } = objective as Partial<LeaseObjective>
  const unknown = faultOfNames('objective', objective, Object.keys(objectiveNames))
  if (unknown !== undefined) return unknown
  if (failover === undefined) return `objective has no failover: give ${example}`
  if (falseLossesPerYear === undefined) return `objective has no falseLossesPerYear: give ${example}`
  const fault = faultOfInterval('objective.failover', failover)
  if (fault !== undefined) return fault
  if (failover < LEAST_FAILOVER) {
    return `objective.failover must be at least ${LEAST_FAILOVER} ms, not ${failover}: no shorter ttl leaves time for heartbeats`
  }
  const isRate = typeof falseLossesPerYear === 'number' && falseLossesPerYear > 0 && Number.isFinite(falseLossesPerYear)
  if (isRate) return undefined
  return misfit(
    'objective.falseLossesPerYear',
    'a positive number such as 1 or 0.1, because no ttl excludes a loss',
    falseLossesPerYear,
  )
}

function faultOfBoth(others: GivenTimes & { readonly strategy?: unknown }): OptionFault {
  const { heartbeatTimeout, heartbeatInterval, operationTimeout, strategy } = others
  const [name] = Object.entries({ heartbeatTimeout, heartbeatInterval, operationTimeout, strategy }).flatMap(
    ([option, value]) => (value === undefined ? [] : [option]),
  )
  if (name === undefined) return undefined
  return `objective chooses the durations by itself: leave out ${name}, or leave out objective and give the durations`
}

/** The durations of a lease with this objective while nothing is known about its store. */
export function startingTimes({ failover }: LeaseObjective): RenewalTimes {
  const reaction = Math.min(failover * STARTING_REACTION, LONGEST_STARTING_REACTION)
  return fittingTimes({ heartbeatTimeout: Math.floor(failover - reaction) })
}

/** The least failover that a lease can begin with at this ttl, in milliseconds. */
export function leastFailover(ttl: number): number {
  return Math.ceil(Math.min(ttl / (1 - STARTING_REACTION), ttl + LONGEST_STARTING_REACTION))
}
