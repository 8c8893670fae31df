import { randomUUID } from 'node:crypto'
import { accessSync, constants, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type Clock, defaultLogger, LeaseConfigurationError, type LeaseRecorder } from '@leasehold/core'
import {
  checkFault,
  type EngineEffect,
  type EngineEvent,
  type EngineRecorder,
  type EngineState,
  type EventContext,
  faultOfFlag,
  type LeaseRecording,
  logSafely,
  type RecordedLease,
  recordLease,
  shownValue,
  transition,
} from '@leasehold/core/internal'
import { checkOptionNames } from '@leasehold/core/store-kit'
import { LastWords } from './last-words.js'
import { MachineWatch, type ProcessReadings } from './machine-watch.js'
import { processReadings } from './process-readings.js'
import { ReadingContext } from './reading-context.js'
import type { StackSource } from './recorded-stack.js'
import { FORMAT, type KnownLease, recordingText, VERSION, type WriteReason } from './recording-text.js'
import { Ring, type RingEntry } from './ring.js'
import { StackWatch } from './stack-watch.js'

/** The entries of a ring: enough for some minutes of a hundred leases. */
const DEFAULT_SIZE = 20_000
const LEAST_SIZE = 100
const MOST_SIZE = 10_000_000

/** How long after a loss the file is written, in milliseconds: answers that were on their way are evidence. */
const AFTER_LOSS = 100

/** Losses within this time share a file, in milliseconds. */
const BETWEEN_FILES = 1_000

/** How many lost leases are written to one file, and how many files one recorder writes for losses. */
const MOST_LEASES = 32
const MOST_FILES = 100

export interface FlightRecorderOptions {
  /** The folder for the files; it is created if it does not exist. */
  readonly folder: string
  /** How many decisions are kept for all leases together, 100 to 10,000,000; 20,000 unless given. A heartbeat takes two. */
  readonly size?: number | undefined
  /** A signal at which all that is in memory is written, such as `SIGUSR2`; none unless given. */
  readonly signal?: NodeJS.Signals | undefined
  /** Whether the metadata of records is written too; `false` unless given. */
  readonly metadata?: boolean | undefined
  /**
   * Whether a thread asks for the stack of the main thread while its event loop is blocked; `false` unless given. The thread takes
   * some megabytes while leases are held or asked for, and the main thread is paused for some milliseconds, once for each time
   * in which its event loop did not turn for 500 ms or more.
   */
  readonly stack?: boolean | undefined
}

/**
 * Keeps the last decisions of leases in memory, and writes them to a file in `folder` when a lease is lost, or when the process
 * exits while it holds one. `leasehold explain` reads the files. Give one recorder to all leases of a process.
 *
 * Throws a `LeaseConfigurationError` if an option is not valid, or the folder cannot be written.
 */
export function flightRecorder(options: FlightRecorderOptions): LeaseRecorder {
  const recorder = new FlightRecorder(options)
  const { signal } = options
  if (signal !== undefined) process.on(signal, () => recorder.tryToWrite('signal'))
  process.on('exit', (code) => recorder.onExit(code))
  return recorder
}

/** Where a recorder writes, and what it reads; those of this process unless a simulation gives others. */
export interface RecorderSurroundings {
  readonly process: ProcessReadings
  readonly identity: { readonly id: string; readonly pid: number; readonly host: string; readonly node: string }
  /** Writes a file, and returns its path. */
  readonly write: (text: string, reason: WriteReason) => string
  /** Where the thread of a self-fence writes; absent where there is none. */
  readonly lastWordsPath?: string
  /** Where stacks come from in a simulation. */
  readonly stacks?: StackSource
}

interface Recorded extends RecordedLease {
  readonly number: number
}

export class FlightRecorder implements EngineRecorder {
  readonly #ring: Ring
  readonly #keepMetadata: boolean
  readonly #around: RecorderSurroundings
  readonly #leases: Recorded[] = []
  readonly #context = new ReadingContext()
  readonly #lost = new Set<number>()
  #clock: Clock | undefined
  #watch: MachineWatch | undefined
  /** How many leases are held or asked for. */
  #engaged = 0
  #isPlanned = false
  #writtenAt = Number.NEGATIVE_INFINITY
  #files = 0
  #lastWords: LastWords | undefined
  /** Whether a self-fence may end the process. */
  #isFenced = false
  readonly #stacks: StackSource | undefined

  constructor(options: FlightRecorderOptions, around?: RecorderSurroundings) {
    const names = { folder: true, size: true, signal: true, metadata: true, stack: true } as const
    checkOptionNames<FlightRecorderOptions>('flightRecorder', options, names)
    const { folder, size = DEFAULT_SIZE, metadata = false, stack = false } = options
    if (typeof folder !== 'string' || folder === '') {
      throw new LeaseConfigurationError(`recorder: folder must be the path of a folder, not ${shownValue(folder)}`)
    }
    if (!(Number.isInteger(size) && size >= LEAST_SIZE && size <= MOST_SIZE)) {
      const range = `a whole number from ${LEAST_SIZE} to ${MOST_SIZE}`
      throw new LeaseConfigurationError(`recorder: size must be ${range}, not ${shownValue(size)}`)
    }
    checkFault(faultOfFlag('recorder: metadata', metadata))
    checkFault(faultOfFlag('recorder: stack', stack))
    this.#ring = new Ring(size)
    this.#keepMetadata = metadata
    this.#around = around ?? surroundings(folder)
    if (stack) this.#stacks = this.#around.stacks ?? this.#watchStack()
  }

  [recordLease](lease: RecordedLease): LeaseRecording {
    this.#clock ??= lease.clock
    if (this.#clock !== lease.clock) {
      throw new LeaseConfigurationError(
        'a recorder records leases of one clock: make another for leases of another clock',
      )
    }
    this.#watch ??= new MachineWatch(
      lease.clock,
      this.#around.process,
      (at, event) => this.#ring.pushMachine(at, event),
      (wall, cpu) => this.#lastWords?.look(wall, cpu),
      this.#stacks,
    )
    const recorded: Recorded = { ...lease, number: this.#leases.length }
    this.#leases.push(recorded)
    return {
      transition: (state, event, context) => this.#transition(recorded, state, event, context),
    }
  }

  /** For the thread of a self-fence: made for the first lease that has one. */
  get lastWords(): SharedArrayBuffer | undefined {
    const words = this.#openLastWords()
    this.#isFenced = words !== undefined
    return words?.memory
  }

  #openLastWords(): LastWords | undefined {
    const { lastWordsPath } = this.#around
    if (lastWordsPath !== undefined) this.#lastWords ??= new LastWords(lastWordsPath)
    return this.#lastWords
  }

  #watchStack(): StackSource | undefined {
    const words = this.#openLastWords()
    return words && new StackWatch(words)
  }

  write(): string {
    return this.#write('asked', this.#leases)
  }

  /** Like `write`; a failure is logged. */
  tryToWrite(reason: WriteReason, leases: readonly Recorded[] = this.#leases, exitCode?: number): void {
    try {
      this.#write(reason, leases, exitCode)
    } catch (error) {
      logSafely(defaultLogger, 'warn', 'a flight recording could not be written', error)
    }
  }

  /** The process ends: a lease that it holds, or has just lost, would have no recording. */
  onExit(exitCode: number): void {
    if (this.#isPlanned) this.#writeLosses()
    const held = this.#leases.filter((lease) => isHeld(lease.state()))
    if (held.length > 0) this.tryToWrite('exit', held.slice(0, MOST_LEASES), exitCode)
  }

  #transition({ number }: Recorded, before: EngineState, event: EngineEvent, context: EventContext) {
    const { now } = context
    this.#watch?.catchUp(now)
    const reading = this.#context.begin(context)
    const next = transition(before, event, reading)
    const { state, effects } = next
    // A look that finds nothing to do is no decision. A stale answer is evidence.
    if (state === before && effects.length === 0 && event.type === 'tick') return next
    this.#ring.pushLease(number, now, event, before, state, context.rules, effects, reading)
    if ((before.phase === 'idle') !== (state.phase === 'idle')) this.#engage(state.phase !== 'idle')
    if (this.#isFenced && isHeld(before) !== isHeld(state)) queueMicrotask(() => this.#note())
    if (state.phase === 'idle' && effects.some(isLoss)) this.#onLoss(number)
    return next
  }

  /** Notes the leases that are held now: the thread of a self-fence cannot ask. */
  #note(): void {
    const held = this.#leases.filter((lease) => isHeld(lease.state())).slice(0, MOST_LEASES)
    this.#lastWords?.note(this.#text('self-fence', held, []))
  }

  #engage(isEngaged: boolean): void {
    this.#engaged += isEngaged ? 1 : -1
    if (isEngaged && this.#engaged === 1) this.#watch?.start()
    if (!isEngaged && this.#engaged === 0) this.#watch?.stop()
  }

  #onLoss(lease: number): void {
    this.#lost.add(lease)
    if (this.#isPlanned || this.#files >= MOST_FILES || this.#clock === undefined) return
    this.#isPlanned = true
    const pause = Math.max(AFTER_LOSS, this.#writtenAt + BETWEEN_FILES - this.#clock.now())
    this.#clock.schedule(pause, () => this.#writeLosses())
  }

  #writeLosses(): void {
    this.#isPlanned = false
    const lost = [...this.#lost].slice(0, MOST_LEASES).map((number) => this.#leases[number])
    this.#lost.clear()
    this.#files += 1
    this.tryToWrite(
      'lost',
      lost.filter((lease) => lease !== undefined),
    )
  }

  #write(reason: WriteReason, leases: readonly Recorded[], exitCode?: number): string {
    const at = this.#clock?.now() ?? 0
    this.#watch?.catchUp(at)
    this.#writtenAt = at
    return this.#around.write(this.#text(reason, leases, this.#ring.entries(), exitCode), reason)
  }

  #text(reason: WriteReason, leases: readonly Recorded[], entries: Iterable<RingEntry>, exitCode?: number): string {
    const known: KnownLease[] = leases.map((lease) => ({
      lease: lease.number,
      rules: lease.rules,
      state: lease.state(),
    }))
    const header = {
      format: FORMAT,
      version: VERSION,
      reason,
      at: this.#clock?.now() ?? 0,
      wall: this.#clock?.wall?.() ?? 0,
      process: this.#around.identity,
      overwritten: this.#ring.overwritten,
      exitCode,
    } as const
    return recordingText(header, known, entries, this.#keepMetadata)
  }
}

function isLoss(effect: EngineEffect): boolean {
  return effect.type === 'lost'
}

function isHeld({ phase }: EngineState): boolean {
  return phase === 'held' || phase === 'jeopardy'
}

/** Found out now: a recorder that cannot write is of no use at a loss. */
function createFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
  } catch (cause) {
    const message = `recorder: the folder '${folder}' cannot be written: ${(cause as Error).message}: create it, or name another one`
    throw new LeaseConfigurationError(message, { cause })
  }
}

function surroundings(folder: string): RecorderSurroundings {
  const identity = { id: randomUUID(), pid: process.pid, host: hostname(), node: process.version }
  let count = 0
  const write: RecorderSurroundings['write'] = (text, reason) => {
    count += 1
    mkdirSync(folder, { recursive: true })
    const path = join(folder, `${identity.host}-${identity.pid}-${identity.id.slice(0, 8)}-${count}-${reason}.rec`)
    // Under another name first: nobody reads half of it.
    try {
      writeFileSync(`${path}.part`, text, { mode: 0o600 })
      renameSync(`${path}.part`, path)
    } catch (error) {
      // The disk may be full.
      rmSync(`${path}.part`, { force: true })
      throw error
    }
    return path
  }
  createFolder(folder)
  const lastWordsPath = join(folder, `${identity.host}-${identity.pid}-${identity.id.slice(0, 8)}-self-fence.rec`)
  return { process: processReadings, identity, write, lastWordsPath }
}
