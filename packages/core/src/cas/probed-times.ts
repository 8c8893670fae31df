import type { StoreFinding } from '../store/store-finding.js'
import type { Clock } from '../time/clock.js'
import type { CasEntry, CasVersion } from './cas-register.js'
import { isTime } from './proven-age.js'

const CHECK = 'store times'

/** When a read was sent and answered, on the clock of this process, and the times of the store in its answer. */
interface TimedRead {
  readonly sentAt: number
  readonly answeredAt: number
  readonly readAt: number | undefined
  readonly writtenAt: number | undefined
}

/**
 * Compares the times that a register gives with the time that passes in this process. A gateway in front of the store, or a
 * second node of it, may have another clock than the one that timed the write.
 */
export class ProbedTimes {
  readonly #clock: Clock
  readonly #clockError: number | undefined
  #first: TimedRead | undefined
  #last: TimedRead | undefined
  #writeSentAt: number | undefined

  /** `clockError`: see `CasRegister.clockError`; without it, nothing is found. */
  constructor(clock: Clock, clockError: number | undefined) {
    this.#clock = clock
    this.#clockError = clockError
  }

  async reading<V extends CasVersion>(read: Promise<CasEntry<V> | undefined>): Promise<CasEntry<V> | undefined> {
    const sentAt = this.#clock.now()
    const entry = await read
    if (entry === undefined) return undefined
    this.#last = { sentAt, answeredAt: this.#clock.now(), readAt: entry.readAt, writtenAt: entry.writtenAt }
    this.#first ??= this.#last
    return entry
  }

  /** The entry is about to be written: the next read shows the time of this write. */
  onWrite(): void {
    this.#writeSentAt = this.#clock.now()
  }

  /** By the first read, the last write, and a read after it. */
  get findings(): readonly StoreFinding[] {
    const [clockError, first, last, writeSentAt] = [this.#clockError, this.#first, this.#last, this.#writeSentAt]
    if (clockError === undefined || first === undefined || last === undefined || writeSentAt === undefined) return []
    const { readAt, writtenAt, answeredAt } = last
    if (!isTime(readAt) || !isTime(first.readAt))
      return [{ check: CHECK, result: 'unknown', found: 'it gave no times' }]
    const excess = [
      // Between the answers to both reads.
      beyond(readAt - first.readAt, last.sentAt - first.answeredAt, answeredAt - first.sentAt),
      isTime(writtenAt) ? beyond(readAt - writtenAt, 0, answeredAt - writeSentAt) : 0,
    ]
    const error = Math.ceil(Math.max(...excess))
    if (error <= clockError) return [{ check: CHECK, result: 'ok' }]
    return [
      {
        check: CHECK,
        result: 'failed',
        setting: CHECK,
        found: `its times differ by ${error} ms from the time that passed, and its clockError is ${clockError} ms`,
        change:
          'set the clocks of its servers, and of gateways in front of them, by NTP, or let the register state the ' +
          'difference, or no clockError: challengers then observe records',
      },
    ]
  }
}

/** By how much the time lies outside of its bounds. */
function beyond(time: number, least: number, most: number): number {
  return Math.max(time - most, least - time, 0)
}
