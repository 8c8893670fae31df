import type { Child } from './child.js'
import { processorTime } from './processor-time.js'

/** Of one contender in one round, in milliseconds. */
export const WINDOW = 500
/** Before each window, not counted. */
const WARM_UP = 100

/** The result of one window. */
export interface Window {
  /** Cycles a second. */
  readonly rate: number
  /** Processor time of the client, and of a server that is measured too, in microseconds a cycle. */
  readonly cpu: number
  readonly server?: number
}

/** Of each contender, round by round. */
export type Windows = Readonly<Record<string, readonly Window[]>>

type Cycle = () => Promise<void>

/** Acquires and releases in a process of its own, window by window. */
export class Racer {
  readonly #lanes: readonly Cycle[]
  readonly #serverCpu: (() => Promise<number>) | undefined

  /** `serverCpu` reads the processor time of the server so far, in milliseconds. */
  constructor(lanes: readonly Cycle[], serverCpu?: () => Promise<number>) {
    this.#lanes = lanes
    this.#serverCpu = serverCpu
  }

  async window(): Promise<Window> {
    await this.#run(WARM_UP)
    const before = await this.#serverCpu?.()
    const { cycles, ...window } = await this.#run(WINDOW)
    const after = await this.#serverCpu?.()
    if (before === undefined || after === undefined) return window
    return { ...window, server: ((after - before) * 1_000) / cycles }
  }

  async #run(time: number) {
    const [start, cpu] = [performance.now(), processorTime()]
    let cycles = 0
    const runLane = async (cycle: Cycle): Promise<void> => {
      while (performance.now() - start < time) {
        await cycle()
        cycles += 1
      }
    }
    await Promise.all(this.#lanes.map(runLane))
    const seconds = (performance.now() - start) / 1_000
    return { cycles, rate: cycles / seconds, cpu: ((processorTime() - cpu) * 1_000) / cycles }
  }
}

/**
 * Each contender in its own process, as at its users: in one process, all would share compiled code. The processes take turns,
 * so that a disturbance of the machine affects all of them. New processes repeat it: compiled code, and its place in memory,
 * differ between processes.
 */
export async function race(
  ids: readonly string[],
  start: (id: string) => Promise<Child<Racer>>,
  { repetitions, rounds }: { readonly repetitions: number; readonly rounds: number },
): Promise<Windows> {
  const windows = Object.fromEntries(ids.map((id) => [id, [] as Window[]]))
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    const racers = await Promise.all(ids.map(async (id) => ({ id, child: await start(id) })))
    try {
      // The first round is not counted: it compiles the code.
      for (let round = 0; round <= rounds; round += 1) {
        for (const { id, child } of racers) {
          const window = await child.ask('window')
          if (round > 0) windows[id]?.push(window)
        }
      }
    } finally {
      for (const { child } of racers) await child.kill()
    }
  }
  return windows
}
