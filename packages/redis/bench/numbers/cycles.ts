import { once } from 'node:events'
import { startChild } from '../child-process.js'
import { type Contender, describe, type Use } from '../contenders/contender.js'
import { contenderOf, contendersFor } from '../contenders/contenders.js'
import { chartOf, type NumberReport } from '../report/number-report.js'
import { nameOf, shown, table } from '../report/table.js'
import { largest, median } from '../statistics.js'

const TTL = 30_000
const IN_FLIGHT = [1, 64, 512] as const
const ROUNDS = 9
/** Of one library in one round, in milliseconds. */
const WINDOW = 500
/** Before each window, not counted. */
const WARM_UP = 100
/** With one process after the other, in milliseconds. */
const PATIENCE = 30_000
/** How much faster than the best rival ours is to be, with so many in flight. */
const BOUNDS: Readonly<Record<number, number>> = { 1: 1, 64: 1.2, 512: 1.2 }

const use: Use = { purpose: 'cycles', role: 'holder', ttl: TTL, waiters: 0 }

interface Task {
  readonly contender: string
  readonly port: number
  readonly inFlight: number
}

interface Rate {
  /** Cycles a second. */
  readonly rate: number
}

/** Cycles a second of each contender, round by round. */
type Rates = Readonly<Record<string, readonly number[]>>

/** In a process of its own: measures for one window whenever it is told to. Never ends by itself. */
export function measureCycles({ contender, port, inFlight }: Task): Promise<never> {
  const session = contenderOf(contender).open(port, use)
  const lanes = Array.from({ length: inFlight }, (_, lane) => session.cycle(`cycles-${contender}-${lane}`))
  process.on('message', async () => {
    await rateOf(lanes, WARM_UP)
    process.send?.({ rate: await rateOf(lanes, WINDOW) } satisfies Rate)
  })
  return new Promise(() => {})
}

/**
 * Each library in a process of its own, as its users have it: in one, each would run what was compiled for all of them. They
 * take turns, so that what disturbs the machine disturbs all alike.
 */
async function ratesOf(contenders: readonly Contender[], port: number, inFlight: number): Promise<Rates> {
  const racers = contenders.map(({ id }) => {
    const task: Task = { contender: id, port, inFlight }
    return { id, child: startChild('cycles', task), rates: [] as number[] }
  })
  try {
    // One round more than is counted: in the first, everything is compiled.
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const { child, rates } of racers) {
        child.send('measure')
        const [{ rate }] = (await once(child, 'message', { signal: AbortSignal.timeout(PATIENCE) })) as [Rate]
        if (round > 0) rates.push(rate)
      }
    }
  } finally {
    for (const { child } of racers) child.kill()
  }
  return Object.fromEntries(racers.map(({ id, rates }) => [id, rates]))
}

async function rateOf(lanes: readonly (() => Promise<void>)[], window: number): Promise<number> {
  const start = performance.now()
  let cycles = 0
  const run = async (cycle: () => Promise<void>): Promise<void> => {
    while (performance.now() - start < window) {
      await cycle()
      cycles += 1
    }
  }
  await Promise.all(lanes.map(run))
  return cycles / ((performance.now() - start) / 1_000)
}

export async function reportCycles(port: number): Promise<NumberReport> {
  const contenders = contendersFor('cycles')
  const results: { readonly inFlight: number; readonly rates: Rates }[] = []
  for (const inFlight of IN_FLIGHT) results.push({ inFlight, rates: await ratesOf(contenders, port, inFlight) })
  const rateOfIn = (contender: Contender, rates: Rates): number => median(rates[contender.id] ?? [])
  const rows = contenders.map((contender) => [
    nameOf(contender),
    ...results.map(({ rates }) => shown(rateOfIn(contender, rates))),
    describe(contender.settingsFor(use)),
  ])
  const ratios = results.flatMap(({ inFlight, rates }) =>
    contenders.filter(({ ours }) => ours).map((contender) => ratioTo(contender, contenders, inFlight, rates)),
  )
  return {
    title: 'Uncontended acquire and release',
    body: [
      'Cycles a second on names that nobody else wants, on one client: each library in a process of its own, which take turns;',
      `median of ${ROUNDS} rounds of ${WINDOW} ms. Locks are made once and used again. Of the rivals it is the bare acquire and`,
      'release, without the renewal that ours and redis-semaphore as it comes start with every acquisition.',
      '',
      table(['library', ...IN_FLIGHT.map((count) => `${count} in flight`), 'settings'], rows),
      '',
      'Ours against the best rival on a client that is set alike: the median of the ratios of each round.',
      '',
      table(
        ['in flight', 'ours', 'best rival', 'ratio', 'bound'],
        ratios.map(({ cells }) => cells),
      ),
    ].join('\n'),
    failures: ratios.filter(({ ratio, bound }) => !(ratio >= bound)).map(({ failure }) => failure),
    charts: results.map(({ inFlight, rates }) =>
      chartOf(
        `Acquire and release, cycles a second, ${inFlight} in flight`,
        contenders.map((contender) => ({ contender })),
        ({ contender }) => rateOfIn(contender, rates),
      ),
    ),
  }
}

/** The best of the rivals in every single round, which is no worse than the best by its median. */
function ratioTo(own: Contender, contenders: readonly Contender[], inFlight: number, rates: Rates) {
  const rivals = contenders.filter(({ ours, setting }) => !ours && setting === own.setting)
  const ofOwn = rates[own.id] ?? []
  const ratios = ofOwn.map((rate, round) => rate / largest(rivals.map(({ id }) => rates[id]?.[round] ?? Number.NaN)))
  const ratio = median(ratios)
  const bound = BOUNDS[inFlight] ?? 1
  const [best] = [...rivals].sort((a, b) => median(rates[b.id] ?? []) - median(rates[a.id] ?? []))
  return {
    ratio,
    bound,
    cells: [
      String(inFlight),
      nameOf(own),
      best === undefined ? '' : nameOf(best),
      `${shown(ratio)} ×`,
      `at least ${bound} ×`,
    ],
    failure: `cycles, ${inFlight} in flight, ${own.setting}: ${shown(ratio)} × the best rival, not ${bound} ×`,
  }
}
