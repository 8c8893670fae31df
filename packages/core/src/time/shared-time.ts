import { machineTime } from './machine-clock.js'
import { BOOT_STEP, bootOffset, leadOf, systemClock } from './system-clock.js'

/** The words: the last signs of life of the user and of the heartbeat thread, and the suspended time. In nanoseconds. */
const WORDS = 3
const USER = 0
const THREAD = 1
const SUSPENDED = 2

/** The memory by which the threads agree on the time. */
export interface TimeMemory {
  readonly words: SharedArrayBuffer
  /** How far the boot clock was ahead of the monotonic one when the memory was made; see {@link bootOffset}. */
  readonly bootOffset: number | undefined
}

export function createTimeMemory(): TimeMemory {
  return { words: new SharedArrayBuffer(WORDS * BigInt64Array.BYTES_PER_ELEMENT), bootOffset: bootOffset() }
}

/**
 * The time in milliseconds, the same in all threads of a process. Their `performance.now` may begin at different instants,
 * but the monotonic clock of the machine is the same for all. When one thread has seen that the machine was suspended, all
 * count it: otherwise a thread that has not seen it would take a deadline of another for later than it is.
 */
export class SharedTime {
  /** See {@link TimeMemory.bootOffset}. */
  readonly bootOffset: number | undefined
  readonly #words: BigInt64Array
  /** Added to the thread's own monotonic time. */
  readonly #offset: number
  /** The suspended time that the system clock of this thread had counted at the beginning. */
  readonly #before: number
  /** The suspended time between the making of the memory and the beginning in this thread. */
  readonly #missed: number

  /** `role`: an error in the comparison of the two clocks makes a deadline earlier, for its reader as for its writer. */
  constructor(memory: TimeMemory, role: 'reader' | 'writer') {
    this.bootOffset = memory.bootOffset
    this.#words = new BigInt64Array(memory.words)
    const { least, most } = leadOf(machineTime, ownTime, 0)
    // Where the clocks are compared inexactly, a reader takes the latest time it may be, and a writer the earliest.
    this.#offset = role === 'reader' ? most : least
    this.#before = suspendedTime()
    const ahead = ((bootOffset() ?? 0) - (memory.bootOffset ?? 0)) / 1e6
    this.#missed = ahead > BOOT_STEP ? ahead + BOOT_STEP : 0
  }

  /** The present time: monotonic, with suspended time counted. */
  now(): number {
    const own = ownTime() + this.#offset
    const seen = suspendedTime() - this.#before + this.#missed
    const known = this.#read(SUSPENDED)
    if (seen <= known) return own + known
    this.#raise(SUSPENDED, seen)
    return own + seen
  }

  /** An instant of the system clock of this thread, on the shared axis. A pause within this method makes it earlier. */
  fromSystem(instant: number): number {
    return this.now() + (instant - systemClock.now())
  }

  /** An instant of the shared axis, on the system clock of this thread. A pause within this method makes it earlier. */
  toSystem(instant: number): number {
    return systemClock.now() + (instant - this.now())
  }

  /** The user of the leases is alive now. */
  showUser(): void {
    this.#raise(USER, this.now())
  }

  /** The heartbeat thread is alive now. */
  showThread(): void {
    this.#raise(THREAD, this.now())
  }

  /** For how long the user of the leases has shown no sign of life, in milliseconds. */
  get userSilence(): number {
    return this.now() - this.#read(USER)
  }

  /** When the heartbeat thread last showed a sign of life. */
  get threadSeenAt(): number {
    return this.#read(THREAD)
  }

  #read(word: number): number {
    return Number(Atomics.load(this.#words, word)) / 1e6
  }

  /** Never lowers the word: two threads may write it at once. */
  #raise(word: number, milliseconds: number): void {
    const value = BigInt(Math.ceil(milliseconds * 1e6))
    let known = Atomics.load(this.#words, word)
    while (known < value) {
      const found = Atomics.compareExchange(this.#words, word, known, value)
      if (found === known) return
      known = found
    }
  }
}

/** The monotonic time of this thread, without suspends, in milliseconds. */
function ownTime(): number {
  return systemClock.now() - suspendedTime()
}

/** The suspended time that the system clock of this thread had counted when it was last read. */
function suspendedTime(): number {
  return systemClock.suspended?.() ?? 0
}
