import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@leasehold/core'

/** Whether a server asks for the time in the threads of one process, or in several processes. */
export type ServerClockKind = 'threads' | 'processes'

interface Way {
  readonly library: string
  readonly settings: Readonly<Record<string, string>>
}

const WAYS: Readonly<Record<ServerClockKind, Way>> = {
  // Looked up once in a second: threads that ask all the time would keep each other waiting.
  threads: { library: 'libfaketimeMT.so.1', settings: { FAKETIME_CACHE_DURATION: '1' } },
  // Looked up each time: a step has to reach all processes at once. The other library has a lock, which the handler of a signal
  // would wait for forever.
  processes: { library: 'libfaketime.so.1', settings: { FAKETIME_NO_CACHE: '1' } },
}

/** Where packages put the libraries: `/usr/lib/x86_64-linux-gnu/faketime` for Debian. */
const faketimeFolder = [process.env.FAKETIME_FOLDER ?? '', '/usr/lib/faketime', ...archFolders()].find(
  (folder) => folder !== '' && existsSync(join(folder, WAYS.threads.library)),
)

/** Why no server can have a clock of its own here; `undefined` where it can. */
export const whyNoServerClock: string | undefined =
  faketimeFolder === undefined ? 'libfaketime was not found: install libfaketime or set FAKETIME_FOLDER' : undefined

/** How often a clock that runs at another rate is moved, in milliseconds. */
const SLEW_INTERVAL = 50

/**
 * The wall clock of a server, which is set while the server runs. Its monotonic clock stays that of the machine. Only programs
 * that ask the C library for the time see it: those in Go do not.
 */
export class ServerClock {
  /** Of the processes of the server. */
  readonly environment: Readonly<Record<string, string>>
  readonly #folder: string
  /** The processes that had it, by their ids. */
  readonly #processes = new Set<number>()
  #lead = 0
  #stopSlew: (() => void) | undefined
  readonly #removeFiles = (): void => {
    rmSync(this.#folder, { recursive: true, force: true })
    // A server that was killed leaves these behind.
    for (const pid of this.#processes) {
      for (const file of ['faketime_shm', 'sem.faketime_sem']) rmSync(`/dev/shm/${file}_${pid}`, { force: true })
    }
  }

  private constructor(folder: string, { library, settings }: Way) {
    this.#folder = mkdtempSync(join(tmpdir(), 'leasehold-clock-'))
    // Servers may run as another user.
    chmodSync(this.#folder, 0o755)
    this.environment = {
      // The C library before others that allocate memory: jemalloc asks for the time before the clock is ready.
      LD_PRELOAD: `${join(folder, library)}:libc.so.6`,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // Otherwise, threads that wait for a monotonic time wake up early, again and again.
      FAKETIME_FORCE_MONOTONIC_FIX: '0',
      ...settings,
    }
    this.#write()
    process.once('exit', this.#removeFiles)
  }

  /** Right at first. `undefined` where {@link whyNoServerClock} says why. */
  static make(kind: ServerClockKind): ServerClock | undefined {
    return faketimeFolder === undefined ? undefined : new ServerClock(faketimeFolder, WAYS[kind])
  }

  /** By how much it is ahead of the clock of the machine, in milliseconds. */
  get lead(): number {
    return this.#lead
  }

  /** Sets the clock forward, or back if `by` is negative; in milliseconds. The server sees it within two seconds. */
  step(by: number): void {
    this.#lead += by
    this.#write()
  }

  /** It runs at this rate from now on, such as 1.004, in steps of less than a millisecond; 1 ends that. */
  slew(rate: number): void {
    this.#stopSlew?.()
    this.#stopSlew = undefined
    if (rate === 1) return
    let last = systemClock.now()
    const move = (): void => {
      const now = systemClock.now()
      this.step((now - last) * (rate - 1))
      last = now
      this.#stopSlew = systemClock.schedule(SLEW_INTERVAL, move)
    }
    this.#stopSlew = systemClock.schedule(SLEW_INTERVAL, move)
  }

  /** A process has it. */
  seenBy(pid: number): void {
    this.#processes.add(pid)
  }

  /** When its servers have ended. */
  remove(): void {
    this.slew(1)
    process.removeListener('exit', this.#removeFiles)
    this.#removeFiles()
  }

  get #file(): string {
    return join(this.#folder, 'time')
  }

  /** Replaced in one step, so that no process reads a part of it. */
  #write(): void {
    const next = `${this.#file}.new`
    writeFileSync(next, `${this.#lead < 0 ? '-' : '+'}${(Math.abs(this.#lead) / 1_000).toFixed(6)}\n`)
    renameSync(next, this.#file)
  }
}

function archFolders(): readonly string[] {
  if (!existsSync('/usr/lib')) return []
  return readdirSync('/usr/lib').map((folder) => join('/usr/lib', folder, 'faketime'))
}
