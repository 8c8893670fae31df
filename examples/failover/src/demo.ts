import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Fleet, type WorkerProcess } from './fleet.js'
import type { Entry } from './ledger.js'
import { machineNow } from './machine-clock.js'
import { summarise, type Takeover, toText } from './summary.js'
import { Timeline } from './timeline.js'

const NAMES = ['anna', 'berta', 'carla', 'doris']

/** What the demo is run on. */
export interface DemoOptions {
  /** The program of each of the four processes: `worker FOLDER NAME`, which calls `runWorker`. */
  readonly worker: URL
  /** The ttl of its lease, in milliseconds. */
  readonly ttl: number
  /** The longest that a release may take to reach the next holder on a busy machine, in milliseconds. */
  readonly longestHandOver: number
  /** What was written to the ledger, in order. */
  readonly readLedger: (folder: string) => Promise<readonly Entry[]>
}

/**
 * Four processes contend for one lease; its holders are killed, stopped and ended. Resolves with whether every figure of
 * the summary holds.
 */
export async function runDemo(options: DemoOptions): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-failover-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const demo = new Demo(options, folder)
  process.once('SIGINT', () => void demo.end().then(() => process.exit(130)))
  try {
    return await demo.run()
  } finally {
    await demo.end()
  }
}

class Demo {
  readonly #options: DemoOptions
  readonly #folder: string
  readonly #fleet: Fleet
  readonly #timeline: Timeline
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #takeovers: Takeover[] = []
  readonly #tally = { sent: 0, refused: 0, accepted: 0, foundItselfLost: false }

  constructor(options: DemoOptions, folder: string) {
    const { worker, ttl } = options
    this.#options = options
    this.#folder = folder
    this.#fleet = new Fleet(NAMES, worker, folder, 2 * ttl + 15_000)
    this.#timeline = new Timeline(this.#fleet, process.stdout, ttl, machineNow)
    this.#fleet.onReport((_, report) => {
      if (report.type === 'late-write') this.#tally[report.refused ? 'refused' : 'accepted'] += 1
    })
    const sendEntry = (): void => {
      this.#tally.sent += 1
      this.#fleet.sendToAll({ type: 'entry', id: this.#tally.sent })
    }
    this.#timers = [
      setInterval(sendEntry, 50),
      setInterval(() => this.#timeline.draw(), 100),
      setInterval(() => this.#timeline.log(), 1_000),
    ]
  }

  async run(): Promise<boolean> {
    const first = await this.#fleet.hears('granted')
    this.#timeline.tell(`${first.worker.name} is the first to be granted the lease, with token ${first.report.token}`)
    await pause(2_000)
    await this.#killTheHolder()
    await pause(1_500)
    await this.#stopTheHolder()
    await pause(1_500)
    await this.#endTheHolder()
    await pause(1_000)
    await this.#fleet.end('SIGTERM')
    return await this.#summarise()
  }

  async end(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#fleet.end('SIGKILL')
  }

  async #killTheHolder(): Promise<void> {
    const { holder } = this.#fleet
    const granted = this.#fleet.hears('granted')
    const endedAt = machineNow()
    holder.signal('SIGKILL', 'killed')
    this.#timeline.tell(
      `SIGKILL to ${holder.name}, the holder: it cannot give its lease back, so the ttl has to run out`,
    )
    await this.#takenOver('SIGKILL', holder, endedAt, granted)
  }

  async #stopTheHolder(): Promise<void> {
    const { holder } = this.#fleet
    const granted = this.#fleet.hears('granted')
    const endedAt = machineNow()
    holder.stop()
    this.#timeline.tell(`SIGSTOP to ${holder.name}, the holder, for longer than its ttl: it does not notice anything`)
    await this.#takenOver('SIGSTOP', holder, endedAt, granted)
    await pause(Math.max(0, endedAt + 1.5 * this.#options.ttl - machineNow()))
    const lost = this.#fleet.hears('lost', holder)
    const lateWrite = this.#fleet.hears('late-write', holder)
    holder.signal('SIGCONT', 'running')
    const { report } = await lost
    this.#tally.foundItselfLost = !report.heldWhenLooked
    this.#timeline.tell(
      `SIGCONT: ${holder.name} finds its lease ${report.reason}, and stops its worker before it writes`,
    )
    const { refused, token } = (await lateWrite).report
    this.#timeline.tell(`${holder.name} writes all the same, under token ${token}: ${refused ? 'refused' : 'ACCEPTED'}`)
  }

  async #endTheHolder(): Promise<void> {
    const { holder } = this.#fleet
    const granted = this.#fleet.hears('granted')
    const releasing = this.#fleet.hears('releasing', holder)
    holder.signal('SIGTERM', 'ended')
    this.#timeline.tell(`SIGTERM to ${holder.name}, the holder: it stops its worker and releases the lease`)
    await this.#takenOver('release', holder, (await releasing).report.at, granted)
  }

  async #takenOver(
    cause: Takeover['cause'],
    from: WorkerProcess,
    endedAt: number,
    granted: Promise<{ worker: WorkerProcess; report: { at: number; token: string } }>,
  ): Promise<void> {
    const { worker, report } = await granted
    this.#takeovers.push({ cause, from: from.name, to: worker.name, endedAt, grantedAt: report.at })
    const latency = (report.at - endedAt).toFixed(1)
    this.#timeline.tell(`${worker.name} takes over ${latency} ms later, with token ${report.token}`)
  }

  async #summarise(): Promise<boolean> {
    const { ttl, longestHandOver, readLedger } = this.#options
    const { refused: lateWritesRefused, accepted: lateWritesAccepted, foundItselfLost } = this.#tally
    const seen = { takeovers: this.#takeovers, lateWritesRefused, lateWritesAccepted, foundItselfLost }
    const entries = await readLedger(this.#folder)
    // A takeover takes what is left of the ttl, on a machine that is busy with other things.
    const bounds = { handOver: longestHandOver, takeover: ttl + 5_000 }
    const figures = summarise(this.#folder, NAMES, entries, seen, bounds)
    for (const timer of this.#timers) clearInterval(timer)
    process.stdout.write(`\nSummary\n${toText(figures)}\n`)
    return figures.every(({ holds }) => holds)
  }
}
