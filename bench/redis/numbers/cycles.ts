import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { startChild } from '../child-process.js'
import { type Contender, describe, type Use } from '../contenders/contender.js'
import { contenderOf, contendersFor } from '../contenders/contenders.js'
import { chartOf, type NumberReport } from '../report/number-report.js'
import { nameOf, shown, table } from '../report/table.js'
import { largest, median } from '../statistics.js'

const TTL = 30_000
const IN_FLIGHT = [1, 64, 512] as const
/** With new processes: what is compiled, and where it lies in memory, differs from one to the next. */
const REPETITIONS = 3
const ROUNDS = 6
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

/** What one window came to. */
interface Window {
  /** Cycles a second. */
  readonly rate: number
  /** Of the client, in microseconds a cycle. */
  readonly cpu: number
}

/** Of each contender, round by round. */
type Windows = Readonly<Record<string, readonly Window[]>>

/** In a process of its own: measures for one window whenever it is told to. Never ends by itself. */
export function measureCycles({ contender, port, inFlight }: Task): Promise<never> {
  const session = contenderOf(contender).open(port, use)
  const lanes = Array.from({ length: inFlight }, (_, lane) => session.cycle(`cycles-${contender}-${lane}`))
  process.on('message', async () => {
    await run(lanes, WARM_UP)
    process.send?.(await run(lanes, WINDOW))
  })
  return new Promise(() => {})
}

/**
 * Each library in a process of its own, as its users have it: in one, each would run what was compiled for all of them. They
 * take turns, so that what disturbs the machine disturbs all alike.
 */
async function race(contenders: readonly Contender[], port: number, inFlight: number): Promise<Windows> {
  const windows = Object.fromEntries(contenders.map(({ id }) => [id, [] as Window[]]))
  for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
    const racers = contenders.map(({ id }) => {
      const task: Task = { contender: id, port, inFlight }
      return { id, child: startChild('cycles', task) }
    })
    try {
      // One round more than is counted: in the first, everything is compiled.
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const { id, child } of racers) {
          const window = await nextWindow(child)
          if (round > 0) windows[id]?.push(window)
        }
      }
    } finally {
      for (const { child } of racers) child.kill()
    }
  }
  return windows
}

async function nextWindow(child: ChildProcess): Promise<Window> {
  child.send('measure')
  const [window] = (await once(child, 'message', { signal: AbortSignal.timeout(PATIENCE) })) as [Window]
  return window
}

async function run(lanes: readonly (() => Promise<void>)[], time: number): Promise<Window> {
  const [start, cpu] = [performance.now(), process.cpuUsage()]
  let cycles = 0
  const runLane = async (cycle: () => Promise<void>): Promise<void> => {
    while (performance.now() - start < time) {
      await cycle()
      cycles += 1
    }
  }
  await Promise.all(lanes.map(runLane))
  const { user, system } = process.cpuUsage(cpu)
  return { rate: cycles / ((performance.now() - start) / 1_000), cpu: (user + system) / cycles }
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
  for (const inFlight of IN_FLIGHT) results.push({ inFlight, windows: await race(contenders, port, inFlight) })
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
      'Cycles a second on names that nobody else wants, on one client: each library in a process of its own, which take turns;',
      `median of ${ROUNDS} rounds of ${WINDOW} ms, ${REPETITIONS} times over with new processes. Locks are made once and used again.`,
      'Of the rivals it is the bare acquire and release, without the renewal that ours and redis-semaphore as it comes start with',
      'every acquisition.',
      '',
      table(
        [
          'library',
          ...IN_FLIGHT.map((count) => `${count} in flight`),
          ...IN_FLIGHT.map((count) => `client CPU, µs a cycle, ${count} in flight`),
          'settings',
        ],
        rows,
      ),
      '',
      'Ours against the best rival on a client that is set alike: the median of the ratios of each round.',
      '',
      table(
        ['in flight', 'ours', 'best rival', 'ratio', 'bound'],
        ratios.map(({ cells }) => cells),
      ),
    ].join('\n'),
    failures: ratios.filter(({ ratio, bound }) => !(ratio >= bound)).map(({ failure }) => failure),
    charts: results.map(({ inFlight, windows }) =>
      chartOf(
        `Acquire and release, cycles a second, ${inFlight} in flight`,
        contenders.map((contender) => ({ contender })),
        ({ contender }) => median(ratesOf(contender, windows)),
      ),
    ),
  }
}

/** The best of the rivals in every single round, which is no worse than the best by its median. */
function ratioTo(own: Contender, contenders: readonly Contender[], inFlight: number, windows: Windows) {
  const rivals = contenders
    .filter(({ ours, setting }) => !ours && setting === own.setting)
    .map((contender) => ({ contender, rates: ratesOf(contender, windows) }))
  const ratios = ratesOf(own, windows).map(
    (rate, round) => rate / largest(rivals.map(({ rates }) => rates[round] ?? Number.NaN)),
  )
  const ratio = median(ratios)
  const bound = BOUNDS[inFlight] ?? 1
  const [best] = [...rivals].sort((a, b) => median(b.rates) - median(a.rates))
  return {
    ratio,
    bound,
    cells: [
      String(inFlight),
      nameOf(own),
      best === undefined ? '' : nameOf(best.contender),
      `${shown(ratio)} ×`,
      `at least ${bound} ×`,
    ],
    failure: `cycles, ${inFlight} in flight, ${own.setting}: ${shown(ratio)} × the best rival, not ${bound} ×`,
  }
}
