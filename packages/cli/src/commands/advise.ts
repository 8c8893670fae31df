import { readLease } from '@leasehold/core'
import { type Advice, type AdviceInput, advise } from '../advice.js'
import type { Action, Invocation } from '../command-declaration.js'
import type { advise as declaration } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'
import { openStore } from '../store-selection.js'
import { type Terminal, writeJSON } from '../terminal.js'
import { checkExclusive, UsageError } from '../usage-error.js'
import { printDurations } from './advise-durations.js'

type Options = Invocation<typeof declaration>['options']

/** How many reads a measurement takes; the first ones open the connection. */
const READS = 23
const WARM_UP = 3

/** The shortest ttl that leases can have, in milliseconds. */
const LEAST_TTL = 100

/** Prints the ttl with the least cost, and its arithmetic. */
export const printAdvice: Action<typeof declaration> = async ({ options }, terminal) => {
  if (options.failover !== undefined) return await printDurations({ ...options, failover: options.failover }, terminal)
  if (options['false-losses-per-year'] !== undefined) {
    throw new UsageError('--false-losses-per-year needs --failover: how fast must a failover be?')
  }
  const input = await inputOf(options, terminal)
  const advice = advise(input)
  if (options.output === 'json') writeJSON(terminal, { input, advice, settings: settingsOf(advice) })
  else terminal.output.write(`${arithmetic(input, advice)}\n\n${block(advice)}`)
  return exitCodes.ok
}

async function inputOf(options: Options, terminal: Terminal): Promise<AdviceInput> {
  const { measure, operation = 0, failures = 0.01, store, config } = options
  const given = options['round-trip']
  checkExclusive(options, ['round-trip', 'measure'])
  if (given === undefined && measure !== true) {
    throw new UsageError('give --round-trip DURATION, or --measure to take it from the store')
  }
  if (measure !== true && (store ?? config) !== undefined) {
    throw new UsageError('the store is used by --measure only: add it, or remove the store')
  }
  const badLuck = options['bad-luck'] ?? 0.001
  if (badLuck > 1) throw new UsageError(`--bad-luck is a part of all renewals: from 0 to 1, not ${badLuck}`)
  const roundTrip = given ?? (await measured(options, terminal))
  for (const [name, duration] of [
    ['--round-trip', roundTrip],
    ['--operation', operation],
  ] as const) {
    if (!Number.isFinite(duration)) throw new UsageError(`${name} must have an end`)
  }
  if (3 * roundTrip + operation === 0) throw new UsageError('--round-trip must be longer than 0')
  return {
    operation: operation / 1_000,
    roundTrip: roundTrip / 1_000,
    failures,
    lostCost: options['lost-cost'] ?? 1,
    downCost: options['down-cost'] ?? 1,
    badLuck,
  }
}

/** Measures reads. Resolves with the time that only one in twenty of them exceeds, in milliseconds. */
async function measured(options: Options, terminal: Terminal): Promise<number> {
  const { clock, errors } = terminal
  const name = 'leasehold-advise'
  await using opened = await openStore(options, name, terminal)
  const times: number[] = []
  for (let read = 0; read < READS; read += 1) {
    const start = clock.now()
    await readLease(opened.store, name, { timeout: options.timeout, clock })
    if (read >= WARM_UP) times.push(clock.now() - start)
  }
  const roundTrip = times.sort((one, other) => one - other).at(-2) ?? 0
  errors.write(`leasehold: a read takes ${shown(roundTrip)} ms, 95 % of ${times.length}\n`)
  return roundTrip
}

/** Rounded up to milliseconds: the settings of `createLease`. */
export function settingsOf(advice: Advice) {
  const { ttl, interval, renewAt } = advice
  return {
    heartbeatTimeout: Math.max(Math.ceil(ttl * 1_000), LEAST_TTL),
    heartbeatInterval: Math.round(interval * 1_000),
    strategy: { renewAt: Math.round(renewAt * 1_000) / 1_000 },
  }
}

function block(advice: Advice): string {
  const { heartbeatTimeout, strategy } = settingsOf(advice)
  return [
    'In a configuration, below the path of the lease:',
    `  heartbeat-timeout = ${heartbeatTimeout}ms`,
    `  strategy { renew-at = ${strategy.renewAt} }`,
    '',
  ].join('\n')
}

function arithmetic(input: AdviceInput, advice: Advice): string {
  const { operation: o, roundTrip: r, failures, lostCost, downCost, badLuck } = input
  const { shortest, longest, best, ttl, renewAt, interval, cost } = advice
  const [t, hourly] = [shown(ttl), `${shown(3_600)} / ${shown(ttl)}`]
  const bound = best < shortest ? ', raised to the shortest' : best > longest ? ', cut to the longest' : ''
  return [
    `shortest ttl   3 × round trip + operation = 3 × ${shown(r)} s + ${shown(o)} s = ${shown(shortest)} s`,
    `longest ttl    10 × shortest = ${shown(longest)} s`,
    `best ttl       √(7200 × bad luck × lost cost / (failures × down cost))`,
    `               = √(7200 × ${shown(badLuck)} × ${shown(lostCost)} / (${shown(failures)} × ${shown(downCost)})) = ${shown(best)} s${bound}`,
    `ttl            ${t} s`,
    `renew at       1 − 3 × round trip / ttl = ${shown(1 - (3 * r) / ttl)}, kept within 0.3 and 0.7: ${shown(renewAt)}`,
    `interval       ${shown(renewAt)} × ${t} s = ${shown(interval)} s`,
    `lost leases    lost cost × bad luck × 3600 / ttl = ${shown(lostCost)} × ${shown(badLuck)} × ${hourly} = ${shown(cost.lost)} an hour`,
    `no holder      down cost × failures × ttl / 2 = ${shown(downCost)} × ${shown(failures)} × ${t} / 2 = ${shown(cost.down)} an hour`,
    `expected cost  ${shown(cost.lost)} + ${shown(cost.down)} = ${shown(cost.total)} an hour`,
  ].join('\n')
}

/** Returns a number with four significant digits, but without decimals from 1,000 on. */
function shown(number: number): string {
  if (number === Number.POSITIVE_INFINITY) return '∞'
  return number >= 1_000 ? String(Math.round(number)) : String(Number(number.toPrecision(4)))
}
