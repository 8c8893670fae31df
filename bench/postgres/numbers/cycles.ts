import type { NumberReport } from '../../support/benchmark.js'
import { Child } from '../../support/child.js'
import { Racer, race, WINDOW, type Window, type Windows } from '../../support/cycles.js'
import { largest, median } from '../../support/statistics.js'
import { shown, table } from '../../support/table.js'
import { nameOf } from '../contenders/contender.js'
import { contenderOf, contenders, type Task } from '../contenders/contenders.js'
import { ServerMeter } from '../server-meter.js'

const IN_FLIGHT = [1, 64] as const
/** The default of `pg`. */
const CONNECTIONS = 10
const TIMES = { repetitions: 2, rounds: 5 }
/** How fast ours must be with 64 in flight, beside an advisory lock of one statement. */
const GOAL = { inFlight: 64, ratio: 1, rival: 'advisory-session' }

export async function openRacer({ contender, url, inFlight }: Task & { readonly inFlight: number }): Promise<Racer> {
  const session = await contenderOf(contender).open(url, CONNECTIONS)
  const meter = new ServerMeter(url)
  const lanes = Array.from({ length: inFlight }, (_, lane) => session.cycle(`cycles-${contender}-${lane}`))
  return new Racer(lanes, async () => (await meter.read()).cpu)
}

export async function reportCycles(url: string): Promise<NumberReport> {
  const results = new Map<number, Windows>()
  for (const inFlight of IN_FLIGHT) {
    const ids = contenders().map(({ id }) => id)
    const start = (contender: string) => Child.start(import.meta.url, openRacer, { contender, url, inFlight })
    results.set(inFlight, await race(ids, start, TIMES))
  }
  const of = (id: string, inFlight: number): readonly Window[] => results.get(inFlight)?.[id] ?? []
  const rates = (id: string, inFlight: number): readonly number[] => of(id, inFlight).map(({ rate }) => rate)
  const ratioTo = (id: string, inFlight: number): number =>
    median(rates('leasehold', inFlight).map((rate, round) => rate / (rates(id, inFlight)[round] ?? Number.NaN)))
  const serverOf = (id: string, inFlight: number): number =>
    median(of(id, inFlight).map(({ server }) => server ?? Number.NaN))
  const cpuOf = (id: string, inFlight: number): number => median(of(id, inFlight).map(({ cpu }) => cpu))
  const rows = contenders().map((contender) => [
    nameOf(contender),
    ...IN_FLIGHT.map((inFlight) => shown(median(rates(contender.id, inFlight)))),
    ...IN_FLIGHT.map((count) => `${shown(cpuOf(contender.id, count))} + ${shown(serverOf(contender.id, count))}`),
    ...IN_FLIGHT.map((inFlight) => (contender.ours ? '' : `${shown(ratioTo(contender.id, inFlight))} ×`)),
  ])
  const head = [
    'contender',
    ...IN_FLIGHT.map((count) => `${count} in flight, cycles/s`),
    ...IN_FLIGHT.map((count) => `CPU of client + server, µs a cycle, ${count} in flight`),
    ...IN_FLIGHT.map((count) => `ours to it, ${count} in flight`),
  ]
  const reached = ratioTo(GOAL.rival, GOAL.inFlight)
  const best = largest(
    contenders()
      .filter(({ ours }) => !ours)
      .map(({ id }) => median(rates(id, GOAL.inFlight))),
  )
  return {
    title: 'Uncontended acquire and release',
    body: [
      `Cycles a second on names without other challengers; a pool of ${CONNECTIONS} connections where the contender uses one.`,
      'Each contender has its own process; the processes take turns;',
      `median of ${TIMES.rounds} rounds of ${WINDOW} ms, repeated ${TIMES.repetitions} times with new processes. The ratio is the median of the`,
      'ratios of each round: ours to that contender, above 1 if ours is faster.',
      '',
      table(head.join(' | '), rows),
      '',
      `The best of the others has ${shown(best)} cycles a second with ${GOAL.inFlight} in flight. Goal: with ${GOAL.inFlight} in flight, ours is at`,
      `least as fast as an advisory lock of one statement each way; measured: ${shown(reached)} ×. On a machine that other work`,
      'shares, the scheduler gives more of the processors to a contender with more connections: an advisory lock keeps 10 processes',
      'of the server busy, ours 4. The processor time of a cycle does not depend on that.',
    ].join('\n'),
    failures:
      reached >= GOAL.ratio ? [] : [`cycles: ${shown(reached)} × an advisory lock of a session, not ${GOAL.ratio} ×`],
  }
}
