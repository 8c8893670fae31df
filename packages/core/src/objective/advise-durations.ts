import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { misfit, type OptionFault } from '../errors/option-faults.js'
import { faultOfNames, type OptionNames } from '../errors/option-names.js'
import { checkObjective, type LeaseObjective } from '../settings/lease-objective.js'
import type { StoreLimits } from '../store/lease-store.js'
import type { DurationAdvice } from './duration-advice.js'
import { DurationChoice } from './duration-choice.js'
import { LEAST_ATTEMPTS, StoreExperience } from './store-experience.js'

/** What was measured of a store and of the process that uses it. Durations in milliseconds. */
export interface StoreMeasurements {
  /** How long calls took that were answered: at least 30. */
  readonly roundTrips: readonly number[]
  /** How many more calls failed, by an error or without an answer; 0 unless given. */
  readonly failures?: number | undefined
  /** How late the event loop ran timers. */
  readonly lateness?: readonly number[] | undefined
  /** How long the store was silent, each time that it was. Needs `observed`. */
  readonly silences?: readonly number[] | undefined
  /** For how long the store was watched to see the silences. */
  readonly observed?: number | undefined
  /** Those of the store, `store.limits`: any ttl of 100 ms or more unless given. */
  readonly limits?: Pick<StoreLimits, 'minTtl' | 'maxTtl' | 'observed' | 'frees'> | undefined
}

const measurementNames: OptionNames<StoreMeasurements> = {
  roundTrips: true,
  failures: true,
  lateness: true,
  silences: true,
  observed: true,
  limits: true,
}

/**
 * The durations for an objective, chosen from what was measured: as `createLease` with `objective` chooses them from what
 * its leases see. It asks no store. Throws a `LeaseConfigurationError` for an objective or a measurement that is not valid.
 */
export function adviseDurations(objective: LeaseObjective, measured: StoreMeasurements): DurationAdvice {
  checkObjective(objective, {})
  const fault = faultOfMeasurements(measured)
  if (fault !== undefined) throw new LeaseConfigurationError(fault)
  return new DurationChoice({ objective, limits: measured.limits }, experienceOf(measured)).choose()
}

function experienceOf({ roundTrips, failures = 0, lateness = [], silences = [], observed = 0 }: StoreMeasurements) {
  const experience = new StoreExperience()
  for (const latency of roundTrips) experience.addAttempt({ latency, outcome: 'answered' })
  for (let failed = 0; failed < failures; failed += 1) experience.addAttempt({ latency: 0, outcome: 'failed' })
  for (const late of lateness) experience.lateness.add(late)
  for (const silence of silences) experience.silences.add(silence)
  experience.addHeld(observed)
  return experience
}

function faultOfMeasurements(measured: StoreMeasurements): OptionFault {
  if (typeof measured !== 'object' || measured === null) return misfit('the measurements', 'an object', measured)
  const unknown = faultOfNames('adviseDurations', measured, Object.keys(measurementNames))
  if (unknown !== undefined) return unknown
  const { roundTrips, failures = 0, lateness = [], silences = [], observed = 0 } = measured
  for (const [name, durations] of Object.entries({ roundTrips, lateness, silences })) {
    const isList = Array.isArray(durations) && durations.every(isAmount)
    if (!isList) return misfit(name, 'an array of 0 or more milliseconds each', durations)
  }
  if (roundTrips.length < LEAST_ATTEMPTS) {
    return `roundTrips must have at least ${LEAST_ATTEMPTS} durations, not ${roundTrips.length}: measure more calls`
  }
  if (!(isAmount(failures) && Number.isInteger(failures))) return misfit('failures', 'a number of calls', failures)
  if (!isAmount(observed)) return misfit('observed', '0 or more milliseconds', observed)
  if (silences.length === 0 || observed > 0) return undefined
  return 'silences need observed: for how many milliseconds the store was watched'
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value)
}
