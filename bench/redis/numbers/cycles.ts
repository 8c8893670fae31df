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
/** With new processes: compiled code, and its place in memory, differ between processes. */
const REPETITIONS = 3
const ROUNDS = 6
/** Of one library in one round, in milliseconds. */
const WINDOW = 500
/** Before each window, not counted. */
const WARM_UP = 100
/** With one process after the other, in milliseconds. */
const PATIENCE = 30_000
/** How many times as fast as the best rival ours must be, by the number in flight. At 1 in flight a rival is faster. */
const BOUNDS: Readonly<Record<number, number>> = { 64: 1.2, 512: 1.2 }

const use: Use = { purpose: 'cycles', role: 'holder', ttl: TTL, waiters: 0 }

interface Task {
  readonly contender: string
  readonly port: number
  readonly inFlight: number
}

/** The result of one window. */
interface Window {
  /** Cycles a second. */
  readonly rate: number
  /** Of the client, in microseconds a cycle. */
  readonly cpu: number
}

/** Of each contender, round by round. */
type Windows = Readonly<Record<string, readonly Window[]>>

/** In a process of its own: measures one window for each message. Never ends by itself. */
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
 * Each library in its own process, as at its users: in one process, all would share compiled code. The processes take turns,
 * so that a disturbance of the machine affects all of them.
 */
async function race(contenders: readonly Contender[], port: number, inFlight: number): Promise<Windows> {
  const windows = Object.fromEntries(contenders.map(({ id }) => [id, [] as Window[]]))
  for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
    const racers = contenders.map(({ id }) => {
      const task: Task = { contender: id, port, inFlight }
      return { id, child: startChild('cycles', task) }
    })
    try {
      // The first round is not counted: it compiles the code.
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
      'Cycles a second on names without other challengers, over one client. Each library has its own process; the processes take turns;',
      `median of ${ROUNDS} rounds of ${WINDOW} ms, repeated ${REPETITIONS} times with new processes. Locks are created once and used again.`,
      'Of the rivals, only acquire and release are measured. Ours, and redis-semaphore with its defaults, also start a renewal.',
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
      'Ours against the best rival on a client with the same settings: the median of the ratios of each round.',
      '',
      table(
        ['in flight', 'ours', 'best rival', 'ratio', 'bound'],
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
