import { sleep } from './machine-clock.js'
import { type ProcessEntry, type RunMark, readProcesses } from './process-table.js'

/** The pauses between two looks at processes that are ending, in milliseconds. */
const SHORTEST_PAUSE = 2
const LONGEST_PAUSE = 100

/** The first process of a command, as both `leasehold` and its watchdog know it. */
export interface CommandRoot {
  readonly pid: number
  /** Whether it leads a process group, and a session, of its own. */
  readonly hasOwnGroup: boolean
}

/**
 * All processes that a command has started: those of its process group, their descendants, those of the sessions and groups
 * that they have opened, and those that have the id of the run in their environment, however they came to be.
 *
 * It does not find a process that left the session and lost its parent before it was seen here, and has no id in its
 * environment. It does not end a process of another user, unless this process is root's.
 */
export class CommandProcesses {
  readonly #mark: RunMark
  /** Processes that are never the command's. */
  readonly #excluded: ReadonlySet<number>
  /** Processes that were seen before: they may lose their parent and their group. */
  readonly #known = new Set<string>()
  readonly #untouchable = new Set<string>()
  #root: CommandRoot | undefined
  #isRootReaped = false

  constructor(mark: RunMark, excluded: readonly number[]) {
    this.#mark = mark
    this.#excluded = new Set([process.pid, ...excluded])
  }

  /** Notes that the first process was started. */
  begin(root: CommandRoot): void {
    this.#root = root
  }

  /** Notes that the exit status of the first process was read: another process can get its number from now on. */
  rootReaped(): void {
    this.#isRootReaped = true
  }

  /** Returns the processes that are alive, except for those of other users. */
  alive(): readonly ProcessEntry[] {
    const all = readProcesses(this.#mark).filter(({ pid }) => !this.#excluded.has(pid))
    const found = new Map<number, ProcessEntry>()
    const led = new Set<number>(this.#root?.hasOwnGroup === true ? [this.#root.pid] : [])
    const isFound = (entry: ProcessEntry): boolean =>
      entry.isMarked ||
      this.#known.has(keyOf(entry)) ||
      (entry.pid === this.#root?.pid && !this.#isRootReaped) ||
      found.has(entry.parent) ||
      led.has(entry.group) ||
      led.has(entry.session)
    for (let hasMore = true; hasMore; ) {
      hasMore = false
      for (const entry of all) {
        if (found.has(entry.pid) || !isFound(entry)) continue
        found.set(entry.pid, entry)
        this.#known.add(keyOf(entry))
        if (entry.group === entry.pid || entry.session === entry.pid) led.add(entry.pid)
        hasMore = true
      }
    }
    return [...found.values()].filter((entry) => !this.#untouchable.has(keyOf(entry)))
  }

  /** Sends the signal to all of them. */
  signal(signal: NodeJS.Signals): void {
    this.#see()
    // The group gets the signal as a whole, so that nothing can start a process in between.
    this.#signalGroup(signal)
    for (const entry of this.alive()) {
      const wasReached = this.#root?.hasOwnGroup === true && !this.#isRootReaped && entry.group === this.#root.pid
      if (!wasReached) this.#signalOne(entry, signal)
    }
  }

  /** Sends the signal to the first process only. */
  signalRoot(signal: NodeJS.Signals): void {
    if (this.#root !== undefined && !this.#isRootReaped) send(this.#root.pid, signal)
  }

  /** Asks all of them to end. A process that is stopped sees SIGTERM only when it continues. */
  terminate(): void {
    this.signal('SIGTERM')
    this.signal('SIGCONT')
  }

  /** Asks all of them to end, unless the time is up; kills those alive when it is. Resolves when none is alive. */
  async end(isTimeUp: () => boolean): Promise<void> {
    if (!isTimeUp()) {
      this.terminate()
      await this.ended(isTimeUp)
    }
    await this.kill()
  }

  /** Resolves when all have ended, or `hasToStop` holds. */
  async ended(hasToStop: () => boolean): Promise<void> {
    await untilDone(() => this.alive().length === 0 || hasToStop())
  }

  /** Sends SIGKILL until nothing is alive. */
  async kill(): Promise<void> {
    this.#see()
    await untilDone(() => {
      this.#signalGroup('SIGKILL')
      const left = this.alive()
      for (const entry of left) this.#signalOne(entry, 'SIGKILL')
      return left.length === 0
    })
  }

  /** Finds all processes before a signal to the group: one of another group is found by a parent that may end at once. */
  #see(): void {
    this.alive()
  }

  #signalGroup(signal: NodeJS.Signals): void {
    if (this.#root?.hasOwnGroup === true && !this.#isRootReaped) send(-this.#root.pid, signal)
  }

  #signalOne(entry: ProcessEntry, signal: NodeJS.Signals): void {
    if (send(entry.pid, signal) === 'EPERM') this.#untouchable.add(keyOf(entry))
  }
}

/** Tries again and again, with pauses that grow. */
async function untilDone(isDone: () => boolean): Promise<void> {
  for (let pause = SHORTEST_PAUSE; !isDone(); pause = Math.min(pause * 2, LONGEST_PAUSE)) await sleep(pause)
}

function keyOf({ pid, started }: ProcessEntry): string {
  return `${pid} ${started}`
}

/** Sends the signal. Returns the code of the failure, or `undefined`. */
function send(pid: number, signal: NodeJS.Signals): string | undefined {
  try {
    process.kill(pid, signal)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}
