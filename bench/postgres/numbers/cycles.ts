import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { shown, table } from '../../redis/report/table.js'
import { largest, median } from '../../redis/statistics.js'
import { startChild } from '../child-process.js'
import type { Contender } from '../contenders/contender.js'
import { contenderOf, contenders } from '../contenders/contenders.js'
import type { NumberReport } from '../report/number-report.js'
import { ServerMeter } from '../server-meter.js'

const IN_FLIGHT = [1, 64] as const
/** The default of `pg`. */
const CONNECTIONS = 10
/** With new processes, because compiled code differs between processes. */
const REPETITIONS = 2
const ROUNDS = 5
/** Of one contender in one round, in milliseconds. */
const WINDOW = 500
/** Before each window, not counted. */
const WARM_UP = 100
/** In milliseconds. */
const PATIENCE = 60_000
/** How fast ours must be with 64 in flight, beside an advisory lock of one statement. */
const GOAL = { inFlight: 64, ratio: 1, rival: 'advisory-session' }

interface Task {
  readonly contender: string
  readonly url: string
  readonly inFlight: number
}

/** The result of one window. */
interface Window {
  /** Cycles a second. */
  readonly rate: number
  /** Of the client, and of the server, in microseconds a cycle. */
  readonly cpu: number
  readonly server: number
}

type Windows = Readonly<Record<string, readonly Window[]>>

/** In a process of its own: measures one window for each message. Never ends by itself. */
export async function measureCycles({ contender, url, inFlight }: Task): Promise<never> {
  const session = await contenderOf(contender).open(url, CONNECTIONS)
  const lanes = Array.from({ length: inFlight }, (_, lane) => session.cycle(`cycles-${contender}-${lane}`))
  const meter = new ServerMeter(url)
  process.on('message', async () => {
    await run(lanes, WARM_UP)
    const before = await meter.read()
    const { cycles, ...window } = await run(lanes, WINDOW)
    const server = (((await meter.read()).cpu - before.cpu) * 1_000) / cycles
    process.send?.({ ...window, server } satisfies Window)
  })
  process.send?.('ready')
  return new Promise(() => {})
}

/** The processes take turns, so that a disturbance of the machine affects all of them. */
async function race(url: string, inFlight: number): Promise<Windows> {
  const windows = Object.fromEntries(contenders.map(({ id }) => [id, [] as Window[]]))
  for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
    const racers = contenders.map(({ id }) => ({ id, child: startChild('cycles', { contender: id, url, inFlight }) }))
    try {
      await Promise.all(racers.map(({ child }) => once(child, 'message', { signal: AbortSignal.timeout(PATIENCE) })))
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

async function run(lanes: readonly (() => Promise<void>)[], time: number) {
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
  return { cycles, rate: cycles / ((performance.now() - start) / 1_000), cpu: (user + system) / cycles }
}

export async function reportCycles(url: string): Promise<NumberReport> {
  const results = new Map<number, Windows>()
  for (const inFlight of IN_FLIGHT) results.set(inFlight, await race(url, inFlight))
  const of = (id: string, inFlight: number): readonly Window[] => results.get(inFlight)?.[id] ?? []
  const rates = (id: string, inFlight: number): readonly number[] => of(id, inFlight).map(({ rate }) => rate)
  const ratioTo = (id: string, inFlight: number): number =>
    median(rates('leasehold', inFlight).map((rate, round) => rate / (rates(id, inFlight)[round] ?? Number.NaN)))
  const serverOf = (id: string, inFlight: number): number => median(of(id, inFlight).map(({ server }) => server))
  const cpuOf = (id: string, inFlight: number): number => median(of(id, inFlight).map(({ cpu }) => cpu))
  const row = ({ id, name, ours }: Contender): string[] => [
    ours ? `**${name}**` : name,
    ...IN_FLIGHT.map((inFlight) => shown(median(rates(id, inFlight)))),
    ...IN_FLIGHT.map((inFlight) => `${shown(cpuOf(id, inFlight))} + ${shown(serverOf(id, inFlight))}`),
    ...IN_FLIGHT.map((inFlight) => (ours ? '' : `${shown(ratioTo(id, inFlight))} ×`)),
  ]
  const reached = ratioTo(GOAL.rival, GOAL.inFlight)
  const best = largest(contenders.filter(({ ours }) => !ours).map(({ id }) => median(rates(id, GOAL.inFlight))))
  return {
    title: 'Uncontended acquire and release',
    body: [
      `Cycles a second on names without other challengers; a pool of ${CONNECTIONS} connections where the contender uses one.`,
      'Each contender has its own process; the processes take turns;',
      `median of ${ROUNDS} rounds of ${WINDOW} ms, repeated ${REPETITIONS} times with new processes. The ratio is the median of the`,
      'ratios of each round: ours to that contender, above 1 if ours is faster.',
      '',
      table(
        [
          'contender',
          ...IN_FLIGHT.map((count) => `${count} in flight, cycles/s`),
          ...IN_FLIGHT.map((count) => `CPU of client + server, µs a cycle, ${count} in flight`),
          ...IN_FLIGHT.map((count) => `ours to it, ${count} in flight`),
        ],
        contenders.map(row),
      ),
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
