import { type Clock, systemClock } from '@leasehold/core'
import type { Bounds } from './bounds.js'
import type { BrokenRule } from './broken-rule.js'
import { goals, goalsIn, isHelpful, ProgressGraph } from './progress.js'
import { StateQueue } from './state-queue.js'
import { StateReader } from './state-reader.js'
import { StateSet } from './state-set.js'
import { StateWriter } from './state-writer.js'
import { Steps } from './steps.js'
import { beginning, type World } from './world.js'

export interface SearchOptions {
  /** Stops after this number of states; no limit unless given. */
  readonly mostStates?: number
  /** Stops after this time, in milliseconds; no limit unless given. */
  readonly longest?: number
  /** Whether steps whose order makes no difference are taken in one order only. On unless given. */
  readonly reduces?: boolean
  /** Whether to check that every state can reach the goals. Takes all steps, reduced or not. Off unless given. */
  readonly progress?: boolean
  /** The system's clock unless given. */
  readonly clock?: Pick<Clock, 'now'>
  /** Called about every 100,000 states. */
  readonly onProgress?: (summary: SearchSummary) => void
}

interface SearchSummary {
  readonly states: number
  /** The number of steps that were taken. */
  readonly steps: number
  /** The number of steps from the beginning to the states found last. */
  readonly depth: number
  /** In milliseconds. */
  readonly duration: number
}

export interface SearchResult extends SearchSummary {
  /** Whether all states within the bounds were visited. */
  readonly isComplete: boolean
  /** The memory for the states, in bytes. */
  readonly bytes: number
  readonly found: BrokenRule | undefined
  /** The numbers of the states on the way, from the beginning to the last one before the rule was broken. */
  readonly path: readonly number[]
  readonly set: StateSet
}

const REPORT_EVERY = 100_000

/** Visits every state within the bounds, those with the fewest steps first, until a rule is broken. */
export function search(bounds: Bounds, options: SearchOptions = {}): SearchResult {
  return new Search(bounds, options).run()
}

class Search {
  readonly #options: SearchOptions
  readonly #steps: Steps
  readonly #writer: StateWriter
  readonly #reader: StateReader
  readonly #set = new StateSet()
  readonly #graph: ProgressGraph | undefined
  readonly #clock: Pick<Clock, 'now'>
  readonly #begunAt: number
  #level = new StateQueue()
  #next = new StateQueue()
  #taken = 0
  #depth = 0
  /** The last state whose steps were taken, or the one in which a rule is broken. */
  #current = 0
  /** A state that is looked at again, for steps that were not taken before. */
  #parent: number | undefined
  #reportAt = REPORT_EVERY
  #found: BrokenRule | undefined
  readonly #beginning: World

  constructor(bounds: Bounds, options: SearchOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#begunAt = this.#clock.now()
    this.#steps = new Steps(bounds, options.reduces !== false && options.progress !== true)
    this.#writer = new StateWriter(bounds, this.#steps.grid)
    this.#reader = new StateReader(bounds, this.#steps.grid)
    this.#graph = options.progress === true ? new ProgressGraph() : undefined
    this.#beginning = beginning(bounds.clients)
  }

  run(): SearchResult {
    const length = this.#writer.write(this.#beginning)
    this.#set.add(this.#writer.bytes, length, -1)
    this.#next.push(0, this.#writer.bytes, length, 0)
    let isComplete = true
    while (this.#next.size > 0 && this.#found === undefined) {
      this.#depth += 1
      ;[this.#level, this.#next] = [this.#next, this.#level]
      this.#next.clear()
      if (!this.#expandLevel()) {
        isComplete = false
        break
      }
    }
    if (this.#found === undefined) this.#findStuck()
    return {
      ...this.#summary(),
      isComplete: isComplete && this.#found === undefined,
      bytes: this.#set.bytes,
      found: this.#found,
      path: this.#pathTo(this.#current),
      set: this.#set,
    }
  }

  /** Returns false if it came to the limit. */
  #expandLevel(): boolean {
    const { mostStates = Number.POSITIVE_INFINITY, longest = Number.POSITIVE_INFINITY, onProgress } = this.#options
    const level = this.#level
    for (let place = 0; place < level.size; place += 1) {
      const number = level.numberAt(place)
      const world = this.#reader.read(level.bytes, level.startAt(place))
      const wanted = level.wantedAt(place)
      const asleep = this.#set.asleepAt(number)
      if (wanted === 0) {
        this.#current = number
        this.#steps.from(world, asleep, this.#visit)
        this.#graph?.endState(goalsIn(world))
      } else {
        this.#parent = number
        this.#steps.ownFrom(world, asleep, wanted, this.#visit)
        this.#parent = undefined
      }
      if (this.#found !== undefined) return true
      if (this.#set.size >= mostStates) return false
      if ((place & 1023) === 0 && this.#clock.now() - this.#begunAt > longest) return false
      if (this.#set.size >= this.#reportAt) {
        this.#reportAt += REPORT_EVERY
        onProgress?.(this.#summary())
      }
    }
    return true
  }

  readonly #visit = (
    kind: number,
    _client: number,
    _message: number,
    next: World,
    asleep: number,
    broken: BrokenRule | undefined,
  ): void => {
    if (this.#found !== undefined) return
    this.#taken += 1
    const parent = this.#parent ?? this.#current
    if (broken !== undefined) {
      this.#found = broken
      this.#current = parent
      return
    }
    const writer = this.#writer
    const length = writer.write(next)
    const before = this.#set.size
    const number = this.#set.add(writer.bytes, length, parent)
    if (this.#graph !== undefined && isHelpful(kind)) this.#graph.addTarget(number)
    const sleeping = asleep === 0 ? 0 : this.#permuted(asleep)
    if (number === before) {
      const fault = this.#steps.brokenIn(next)
      if (fault !== undefined) {
        this.#found = fault
        this.#current = number
        return
      }
      this.#set.setAsleep(number, sleeping)
      this.#next.push(number, writer.bytes, length, 0)
      return
    }
    const known = this.#set.asleepAt(number)
    const wanted = known & ~sleeping
    if (wanted === 0) return
    this.#set.setAsleep(number, known & sleeping)
    // Steps that were not taken from there, because they were taken from elsewhere: not on this way.
    if (number <= this.#current) this.#next.push(number, writer.bytes, length, wanted)
  }

  /** The clients that are asleep, by their places in the written state. */
  #permuted(asleep: number): number {
    let bits = 0
    const { placeOf } = this.#writer
    for (let index = 0; index < placeOf.length; index += 1) {
      if ((asleep & (1 << index)) !== 0) bits |= 1 << (placeOf[index] as number)
    }
    return bits
  }

  #findStuck(): void {
    const stuck = this.#graph?.stuck()
    if (stuck === undefined) return
    this.#current = stuck.number
    this.#found = { rule: 'no-progress', message: `from here it cannot come about that ${goals[stuck.goal]}` }
  }

  #summary(): SearchSummary {
    return {
      states: this.#set.size,
      steps: this.#taken,
      depth: this.#depth,
      duration: this.#clock.now() - this.#begunAt,
    }
  }

  #pathTo(number: number): number[] {
    const path: number[] = []
    for (let at = number; at !== -1; at = this.#set.parentOf(at)) path.push(at)
    return path.reverse()
  }
}
