import { createInterface } from 'node:readline'
import { writeNow } from '../write-now.js'
import { CommandProcesses } from './command-processes.js'
import { isTimeUp, timeTo } from './end-plan.js'
import { machineNow, sleep } from './machine-clock.js'
import type { WatchedCommand } from './watchdog-message.js'

/** The longest time between two looks at the clock, in milliseconds: timers stand still during a suspend. */
const LONGEST_PAUSE = 200

/** The watchdog sends SIGTERM later than `leasehold`: by this part of `killAfter`, but at most this number of milliseconds. */
const LATER_BY_PART = 4
const LATER_BY = 250

/** One command, from before its start until nothing of it is alive. */
interface Watched {
  readonly processes: CommandProcesses
  /** As `leasehold` has described it last. */
  command: WatchedCommand
  isEnding: boolean
  /** Whether `leasehold` was too late, so that the watchdog has ended the command. */
  isEnded: boolean
}

/**
 * The process beside `leasehold` that ends the command where `leasehold` cannot: because it was killed, is stopped, or hangs.
 * It has a session of its own, and lives until its input ends, which happens when `leasehold` ends in any way.
 */
class Watchdog {
  #watched: Watched | undefined
  #isAlone = false

  /** Takes over the command of `leasehold`; `null` if it has none any more. */
  learn(command: WatchedCommand | null): void {
    if (command === null) {
      this.#watched = undefined
      return
    }
    this.#watched ??= beginWith(command)
    const { processes } = this.#watched
    this.#watched.command = command
    if (command.root !== undefined) processes.begin(command.root)
    if (command.isReaped === true) processes.rootReaped()
    if (command.isEnding === true) this.#watched.isEnding = true
  }

  /** Looks at the plan until `leasehold` has ended, and nothing of a command is left. */
  async watch(): Promise<void> {
    while (!this.#isAlone) {
      const watched = this.#watched
      if (watched !== undefined) await this.#look(watched)
      await sleep(Math.min(LONGEST_PAUSE, Math.max(5, this.#pause())))
    }
    if (this.#watched !== undefined) await this.#endAlone(this.#watched)
  }

  /** Tells the watchdog that `leasehold` has ended. */
  alone(): void {
    this.#isAlone = true
  }

  #pause(): number {
    const { terminateAt, killAt } = this.#watched?.command.plan ?? {}
    const now = machineNow()
    const toTerminate = timeTo(terminateAt, now)
    return toTerminate > 0 ? Math.min(toTerminate, LONGEST_PAUSE) : Math.min(LONGEST_PAUSE, timeTo(killAt, now))
  }

  async #look(watched: Watched): Promise<void> {
    const { processes, command } = watched
    const { plan, killAfter } = command
    const now = machineNow()
    if (timeTo(plan.killAt, now) <= 0) {
      // This is done with every look while `leasehold` does not answer: it may have been stopped while it started the
      // command.
      if (processes.alive().length === 0) return
      await processes.kill()
      if (!watched.isEnded) report('leasehold did not end the command in time: its watchdog ended it')
      watched.isEnded = true
      return
    }
    const latest = Math.min(LATER_BY, killAfter / LATER_BY_PART)
    if (!watched.isEnding && timeTo(plan.terminateAt, now) <= -latest) {
      watched.isEnding = true
      processes.terminate()
    }
  }

  /** Sends SIGTERM, and SIGKILL at the latest when the lease has to be over. */
  async #endAlone({ processes, command: { plan, killAfter }, isEnding }: Watched): Promise<void> {
    if (processes.alive().length === 0) return
    report('leasehold has ended: its watchdog ends the command')
    if (!isEnding && timeTo(plan.killAt, machineNow()) > 0) processes.terminate()
    const start = machineNow()
    await processes.ended(() => isTimeUp(start, killAfter, plan.killAt))
    await processes.kill()
  }
}

function beginWith(command: WatchedCommand): Watched {
  const processes = new CommandProcesses(command.mark, [process.ppid])
  writeNow(1, 'armed\n')
  return { processes, command, isEnding: false, isEnded: false }
}

function report(text: string): void {
  writeNow(2, `leasehold: ${text}\n`)
}

/** Runs as a process of its own; ends it when there is nothing left to do. */
export async function runWatchdog(): Promise<void> {
  // A service manager sends these to all processes of a service. Then leasehold ends first.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const)
    process.on(signal, () => {})
  const watchdog = new Watchdog()
  const lines = createInterface({ input: process.stdin })
  lines.on('line', (line) => watchdog.learn(JSON.parse(line)))
  lines.on('close', () => watchdog.alone())
  await watchdog.watch()
  process.exit(0)
}
