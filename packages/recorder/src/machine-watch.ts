import type { Clock } from '@leasehold/core'
import type { RecordedStack, StackSource } from './recorded-stack.js'

/** The time between two looks at the machine, in milliseconds. */
const PERIOD = 250

/** How late a look has to be to count as a stall, and how far the wall clock has to move to count as a step. Milliseconds. */
const LEAST_STALL = 50
const LEAST_STEP = 50

/** An event of the machine or the process, as the recorder saw it. Durations in milliseconds. */
export type MachineEvent =
  /**
   * The event loop did not turn for `duration`, or longer. `cpu`: the processor time that the process used meanwhile, with
   * all its threads. `suspended`: the part in which the machine was suspended.
   */
  | ({
      readonly type: 'stall'
      readonly duration: number
      readonly cpu: number
      readonly suspended: number
    } & RecordedStack)
  /** A garbage collection had stopped the process for `duration`: it was reported then. */
  | { readonly type: 'collection'; readonly duration: number }
  /** The wall clock was set by `by`, against the monotonic clock. */
  | { readonly type: 'step'; readonly by: number }

/** The readings of a process; those of this process unless a simulation gives others. */
export interface ProcessReadings {
  /** The processor time that the process has used, in milliseconds. */
  readonly cpu: () => number
  /** Calls back after each long collection, which took `duration`. Returns what stops it. */
  readonly onCollection: (listener: (duration: number) => void) => () => void
}

/** Notices that the event loop was blocked, or the wall clock set. It looks four times a second, while it is started. */
export class MachineWatch {
  readonly #clock: Clock
  readonly #process: ProcessReadings
  readonly #onEvent: (at: number, event: MachineEvent) => void
  readonly #onLook: (wall: number, cpu: number) => void
  readonly #stacks: StackSource | undefined
  #cancel: (() => void) | undefined
  #stopCollections: (() => void) | undefined
  #lookedAt = 0
  #cpu = 0
  #suspended = 0
  #wallAhead = 0

  /** `onLook`: the event loop turns now; with the wall clock, and the processor time so far. `stacks`: where stacks come from. */
  constructor(
    clock: Clock,
    process: ProcessReadings,
    onEvent: (at: number, event: MachineEvent) => void,
    onLook: (wall: number, cpu: number) => void,
    stacks: StackSource | undefined,
  ) {
    this.#clock = clock
    this.#process = process
    this.#onEvent = onEvent
    this.#onLook = onLook
    this.#stacks = stacks
  }

  start(): void {
    this.#read(this.#clock.now())
    this.#stacks?.start()
    this.#stacks?.look(0)
    this.#stopCollections = this.#process.onCollection((duration) => {
      this.#onEvent(this.#clock.now(), { type: 'collection', duration })
    })
    this.#lookLater()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#stopCollections?.()
    this.#stacks?.stop()
  }

  /** Looks now, if the next look is late: timers of others may run before it. */
  catchUp(now: number): void {
    if (this.#cancel !== undefined && now - this.#lookedAt >= PERIOD + LEAST_STALL) this.#look(now)
  }

  #lookLater(): void {
    this.#cancel = this.#clock.schedule(PERIOD, () => {
      this.#look(this.#clock.now())
      this.#lookLater()
    })
  }

  #look(now: number): void {
    const [lookedAt, cpu, suspended, wallAhead] = [this.#lookedAt, this.#cpu, this.#suspended, this.#wallAhead]
    this.#read(now)
    const duration = now - lookedAt - PERIOD
    const stack = this.#stacks?.look(duration)
    if (duration >= LEAST_STALL) {
      this.#onEvent(now, {
        type: 'stall',
        duration,
        cpu: this.#cpu - cpu,
        suspended: this.#suspended - suspended,
        ...stack,
      })
    }
    const by = this.#wallAhead - wallAhead
    if (Math.abs(by) >= LEAST_STEP) this.#onEvent(now, { type: 'step', by })
  }

  #read(now: number): void {
    this.#lookedAt = now
    this.#cpu = this.#process.cpu()
    this.#suspended = this.#clock.suspended?.() ?? 0
    this.#wallAhead = (this.#clock.wall?.() ?? now) - now
    this.#onLook(now + this.#wallAhead, this.#cpu)
  }
}
