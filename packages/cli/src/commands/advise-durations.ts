import {
  adviseDurations,
  type DurationAdvice,
  type LeaseObjective,
  LeaseTimeoutError,
  LeaseUnavailableError,
  readLease,
} from '@leasehold/core'
import type { Invocation } from '../command-declaration.js'
import type { advise as declaration } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'
import { openStore } from '../store-selection.js'
import { type Terminal, writeJSON } from '../terminal.js'
import { checkExclusive } from '../usage-error.js'

type Options = Invocation<typeof declaration>['options'] & { readonly failover: number }

/** How many reads a measurement takes; the first ones open the connection. */
const READS = 203
const WARM_UP = 3

/** The options of the other way to choose a ttl. */
const ofCosts = ['operation', 'round-trip', 'failures', 'lost-cost', 'down-cost', 'bad-luck'] as const

/** Measures the store and prints the durations for an objective. The code is 1 if the objective cannot be kept. */
export async function printDurations(options: Options, terminal: Terminal): Promise<number> {
  for (const name of ofCosts) checkExclusive(options, ['failover', name])
  const objective = { failover: options.failover, falseLossesPerYear: options['false-losses-per-year'] ?? 1 }
  await using opened = await openStore(options, NAME, terminal)
  const measured = await measure(opened.store, options.timeout, terminal)
  const advice = adviseDurations(objective, { ...measured, limits: opened.store.limits })
  if (options.output === 'json') writeJSON(terminal, { objective, advice })
  else terminal.output.write(text(advice, objective, measured.roundTrips.length))
  return advice.kept ? exitCodes.ok : exitCodes.no
}

const NAME = 'leasehold-advise'

type Store = Parameters<typeof readLease>[0]

/** Reads many times. A read that fails, or is late, counts; any other error ends the measurement. */
async function measure(store: Store, timeout: number | undefined, { clock }: Terminal) {
  const roundTrips: number[] = []
  let failures = 0
  for (let read = 0; read < READS; read += 1) {
    const start = clock.now()
    try {
      await readLease(store, NAME, { timeout, clock })
      if (read >= WARM_UP) roundTrips.push(clock.now() - start)
    } catch (error) {
      const isTransient = error instanceof LeaseTimeoutError || error instanceof LeaseUnavailableError
      // A store that has not answered once cannot be reached.
      if (!isTransient || roundTrips.length === 0) throw error
      failures += 1
    }
  }
  return { roundTrips, failures }
}

function text(advice: DurationAdvice, objective: LeaseObjective, reads: number): string {
  const {
    kept,
    reason,
    forecast = 0,
    upperForecast = 0,
    failover,
    heartbeatTimeout,
    heartbeatInterval,
    operationTimeout,
  } = advice
  const answer = kept
    ? 'the objective can be kept, as far as the reads show'
    : `the objective cannot be kept: ${reason}`
  return [
    answer,
    `failover       ${Math.round(failover)} ms`,
    `false losses   ${Number(forecast.toPrecision(2))} a year, at most ${Number(upperForecast.toPrecision(2))} with a confidence of 95 %, by ${reads} reads, which show no outages; allowed are ${objective.falseLossesPerYear}`,
    '',
    'In a configuration, below the path of the lease, so that the process learns and adapts:',
    `  objective { failover = ${objective.failover}ms, false-losses-per-year = ${objective.falseLossesPerYear} }`,
    'Or these durations as they are:',
    `  heartbeat-timeout = ${heartbeatTimeout}ms`,
    `  heartbeat-interval = ${heartbeatInterval}ms`,
    `  lease-operation-timeout = ${operationTimeout}ms`,
    '',
  ].join('\n')
}
