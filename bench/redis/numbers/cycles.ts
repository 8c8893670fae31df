import type { NumberReport } from '../../support/benchmark.js'
import { Child } from '../../support/child.js'
import { Racer, race, WINDOW, type Windows } from '../../support/cycles.js'
import { largest, median } from '../../support/statistics.js'
import { shown, table } from '../../support/table.js'
import { type Contender, chartOf, describe, nameOf, type Use } from '../contenders/contender.js'
import { contenderOf, contendersFor, type Task } from '../contenders/contenders.js'

const IN_FLIGHT = [1, 64, 512] as const
const TIMES = { repetitions: 3, rounds: 6 }
/** How many times as fast as the best rival ours must be, by the number in flight. At 1 in flight a rival is faster. */
const BOUNDS: Readonly<Record<number, number>> = { 64: 1.2, 512: 1.2 }

const use: Use = { purpose: 'cycles', role: 'holder', ttl: 30_000, waiters: 0 }

export function openRacer({ contender, port, inFlight }: Task & { readonly inFlight: number }): Racer {
  const session = contenderOf(contender).open(port, use)
  return new Racer(Array.from({ length: inFlight }, (_, lane) => session.cycle(`cycles-${contender}-${lane}`)))
}

function ratesOf({ id }: Contender, windows: Windows): readonly number[] {
  return (windows[id] ?? []).map(({ rate }) => rate)
}

function cpuOf({ id }: Contender, windows: Windows): number {
  return median((windows[id] ?? []).map(({ cpu }) => cpu))
}

export async function reportCycles(port: number): Promise<NumberReport> {
  const contenders = contendersFor('cycles')
  const results: { readonly inFlight: number; readonly windows: Windows }[] = []
  for (const inFlight of IN_FLIGHT) {
    const ids = contenders.map(({ id }) => id)
    const start = (contender: string) => Child.start(import.meta.url, openRacer, { contender, port, inFlight })
    results.push({ inFlight, windows: await race(ids, start, TIMES) })
  }
  const rates = IN_FLIGHT.map((count) => `${count} in flight`)
  const cpus = IN_FLIGHT.map((count) => `client CPU, µs a cycle, ${count} in flight`)
  const rows = contenders.map((contender) => [
    nameOf(contender),
    ...results.map(({ windows }) => shown(median(ratesOf(contender, windows)))),
    ...results.map(({ windows }) => shown(cpuOf(contender, windows))),
    describe(contender.settingsFor(use)),
  ])
  const ratios = results.flatMap(({ inFlight, windows }) =>
    contenders.filter(({ ours }) => ours).map((contender) => ratioTo(contender, contenders, inFlight, windows)),
  )
  return {
    title: 'Uncontended acquire and release',
    body: [
      'Cycles a second on names without other challengers, over one client. Each library has its own process; the processes take turns;',
      `median of ${TIMES.rounds} rounds of ${WINDOW} ms, repeated ${TIMES.repetitions} times with new processes. Locks are created once and used again.`,
      'Only acquire and release of the rivals are measured. Ours, and redis-semaphore with its defaults, also start a renewal.',
      '',
      table(`library | ${rates.join(' | ')} | ${cpus.join(' | ')} | settings`, rows),
      '',
      'Ours against the best rival on a client with the same settings: the median of the ratios of each round.',
      '',
      table(
        'in flight | ours | best rival | ratio | bound',
        ratios.map(({ cells }) => cells),
      ),
    ].join('\n'),
    failures: ratios.flatMap(({ failure }) => failure ?? []),
    charts: results.map(({ inFlight, windows }) =>
      chartOf(
        `Acquire and release, cycles a second, ${inFlight} in flight`,
        contenders.map((contender) => ({ contender })),
        ({ contender }) => median(ratesOf(contender, windows)),
      ),
    ),
  }
}

/** Compares with the best rival of each round: that is at least as strict as the rival with the best median. */
function ratioTo(own: Contender, contenders: readonly Contender[], inFlight: number, windows: Windows) {
  const rivals = contenders
    .filter(({ ours, setting }) => !ours && setting === own.setting)
    .map((contender) => ({ contender, rates: ratesOf(contender, windows) }))
  const ratios = ratesOf(own, windows).map(
    (rate, round) => rate / largest(rivals.map(({ rates }) => rates[round] ?? Number.NaN)),
  )
  const ratio = median(ratios)
  const bound = BOUNDS[inFlight]
  const isKept = bound === undefined || ratio >= bound
  const [best] = [...rivals].sort((a, b) => median(b.rates) - median(a.rates))
  return {
    cells: [
      String(inFlight),
      nameOf(own),
      best === undefined ? '' : nameOf(best.contender),
      `${shown(ratio)} ×`,
      bound === undefined ? '–' : `at least ${bound} ×`,
    ],
    failure: isKept
      ? undefined
      : `cycles, ${inFlight} in flight, ${own.setting}: ${shown(ratio)} × the best rival, not ${bound} ×`,
  }
}
