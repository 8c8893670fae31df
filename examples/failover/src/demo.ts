import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Fleet, type Received, type WorkerProcess } from './fleet.js'
import { Interruption } from './interruption.js'
import type { Entry } from './ledger.js'
import { machineNow } from './machine-clock.js'
import { summarise, type Takeover, toText } from './summary.js'
import { Timeline } from './timeline.js'

const NAMES = ['anna', 'berta', 'carla', 'doris']

/** Options of {@link runDemo}. */
export interface DemoOptions {
  /** The program of the four processes. It is run as `worker FOLDER NAME` and calls `runWorker`. */
  readonly worker: URL
  /** The ttl of the lease, in milliseconds. */
  readonly ttl: number
  /** For how long the store may keep the name of a holder that was killed, in milliseconds; the ttl unless given. */
  readonly longestTakeover?: number
  /** The maximum time from a release to the next grant on a busy machine, in milliseconds. */
  readonly longestHandOver: number
  /** Returns the entries of the ledger in order. */
  readonly readLedger: (folder: string) => Promise<readonly Entry[]>
}

/**
 * Runs four processes that contend for one lease. Kills, stops and ends its holders. Resolves with the exit code: 0 if all
 * checks of the summary pass, else 1. An interruption (SIGINT, SIGTERM, SIGHUP, or an output that is closed) ends all
 * processes first, and has its own exit code.
 */
export async function runDemo(options: DemoOptions): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-failover-'))
  const interruption = new Interruption(process.stdout)
  const demo = new Demo(options, folder, interruption.signal)
  try {
    return (await demo.run()) ? 0 : 1
  } catch (error) {
    if (interruption.exitCode === undefined) throw error
    return interruption.exitCode
  } finally {
    await demo.end()
    interruption.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

class Demo {
  readonly #options: DemoOptions
  readonly #folder: string
  readonly #fleet: Fleet
  readonly #timeline: Timeline
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #interrupted: AbortSignal
  readonly #takeovers: Takeover[] = []
  readonly #tally = { sent: 0, refused: 0, accepted: 0, foundItselfLost: false }

  constructor(options: DemoOptions, folder: string, interrupted: AbortSignal) {
    const { worker, ttl, longestTakeover = ttl } = options
    this.#interrupted = interrupted
    this.#options = options
    this.#folder = folder
    this.#fleet = new Fleet(NAMES, worker, folder, 2 * longestTakeover + 15_000, interrupted)
    this.#timeline = new Timeline(this.#fleet, process.stdout, ttl, machineNow)
    const sendEntry = (): void => {
      this.#tally.sent += 1
      this.#fleet.sendToAll({ type: 'entry', id: this.#tally.sent })
    }
    this.#timers = [
      setInterval(sendEntry, 50),
      setInterval(() => this.#timeline.draw(), 100),
      setInterval(() => this.#timeline.logStatus(), 1_000),
    ]
  }

  async run(): Promise<boolean> {
    const first = await this.#fleet.nextReport('granted')
    this.#timeline.log(`${first.worker.name} is the first to be granted the lease, with token ${first.report.token}`)
    await this.#pause(2_000)
    await this.#killTheHolder()
    await this.#pause(1_500)
    await this.#stopTheHolder()
    await this.#pause(1_500)
    await this.#endTheHolder()
    await this.#pause(1_000)
    await this.#fleet.end('SIGTERM')
    return await this.#summarise()
  }

  async end(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#fleet.end('SIGKILL')
  }

  async #pause(duration: number): Promise<void> {
    await pause(duration, undefined, { signal: this.#interrupted })
  }

  async #killTheHolder(): Promise<void> {
    const { holder } = this.#fleet
    const granted = this.#fleet.nextReport('granted')
    const endedAt = machineNow()
    holder.signal('SIGKILL', 'killed')
    this.#timeline.log(`SIGKILL to ${holder.name}, the holder: it cannot release its lease, so the ttl must expire`)
    await this.#takenOver('SIGKILL', holder, endedAt, granted)
  }

  async #stopTheHolder(): Promise<void> {
    const { holder } = this.#fleet
    const granted = this.#fleet.nextReport('granted')
    const endedAt = machineNow()
    holder.stop()
    this.#timeline.log(`SIGSTOP to ${holder.name}, the holder, for longer than its ttl: it runs no code meanwhile`)
    await this.#takenOver('SIGSTOP', holder, endedAt, granted)
    const { ttl, longestTakeover = ttl } = this.#options
    await this.#pause(Math.max(0, endedAt + longestTakeover + 0.5 * ttl - machineNow()))
    await this.#hasWritten(this.#fleet.holder)
    const lost = this.#fleet.nextReport('lost', holder)
    const lateWrite = this.#fleet.nextReport('late-write', holder)
    holder.signal('SIGCONT', 'running')
    const { report } = await lost
    this.#tally.foundItselfLost = !report.heldWhenLooked
    this.#timeline.log(`SIGCONT: ${holder.name} finds its lease ${report.reason} and stops its worker before it writes`)
    const { refused, token } = (await lateWrite).report
    // Only this write is counted: on a busy machine another holder may lose its lease before its successor has written.
    this.#tally[refused ? 'refused' : 'accepted'] += 1
    this.#timeline.log(`${holder.name} writes anyway, with token ${token}: ${refused ? 'rejected' : 'ACCEPTED'}`)
  }

  /** The guard of the ledger rejects older tokens from the first write of the new holder on. */
  async #hasWritten(holder: WorkerProcess): Promise<void> {
    await this.#fleet.nextReport('status', holder, ({ written }) => written > 0)
  }

  async #endTheHolder(): Promise<void> {
    const { holder } = this.#fleet
    const granted = this.#fleet.nextReport('granted')
    const releasing = this.#fleet.nextReport('releasing', holder)
    holder.signal('SIGTERM', 'ended')
    this.#timeline.log(`SIGTERM to ${holder.name}, the holder: it stops its worker and releases the lease`)
    await this.#takenOver('release', holder, (await releasing).report.at, granted)
  }

  async #takenOver(
    cause: Takeover['cause'],
    from: WorkerProcess,
    endedAt: number,
    granted: Promise<Received<'granted'>>,
  ): Promise<void> {
    const { worker, report } = await granted
    this.#takeovers.push({ cause, from: from.name, to: worker.name, endedAt, grantedAt: report.at })
    const latency = (report.at - endedAt).toFixed(1)
    this.#timeline.log(`${worker.name} takes over ${latency} ms later, with token ${report.token}`)
  }

  async #summarise(): Promise<boolean> {
    const { ttl, longestTakeover = ttl, longestHandOver, readLedger } = this.#options
    const { refused: lateWritesRefused, accepted: lateWritesAccepted, foundItselfLost } = this.#tally
    const observations = { takeovers: this.#takeovers, lateWritesRefused, lateWritesAccepted, foundItselfLost }
    const entries = await readLedger(this.#folder)
    // A takeover takes the rest of that time. The allowance is for a busy machine.
    const bounds = { handOver: longestHandOver, takeover: longestTakeover + 5_000 }
    const figures = summarise(this.#folder, NAMES, entries, observations, bounds)
    for (const timer of this.#timers) clearInterval(timer)
    process.stdout.write(`\nSummary\n${toText(figures, process.stdout)}\n`)
    return figures.every(({ holds }) => holds)
  }
}
