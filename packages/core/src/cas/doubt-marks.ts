import { AbortableCall, type StoreCall } from '../store/store-call.js'
import { RecentMap } from '../store-kit/recent-map.js'
import type { Clock } from '../time/clock.js'
import { inTime } from '../time/in-time.js'
import type { CasEntry, CasRegister, CasVersion } from './cas-register.js'
import { isTime } from './proven-age.js'

/** The largest number of names that are kept. A forgotten name is marked once more. */
const MOST = 10_000

/**
 * Writes down when a challenger of this process first found a name held, for the processes after it: one that ends before
 * it has seen the record unchanged for a ttl would otherwise have observed in vain.
 */
export class DoubtMarks<V extends CasVersion> {
  readonly #register: Pick<CasRegister<V>, 'doubt'>
  readonly #clock: Clock
  readonly #marked = new RecentMap<true>(MOST)

  constructor(register: Pick<CasRegister<V>, 'doubt'>, clock: Clock) {
    this.#register = register
    this.#clock = clock
  }

  /**
   * Marks the entry as read, unless it has a mark or the process has marked the name before. `end`: when the time of the
   * call is over, on the clock. The mark may use half of what is left. It never rejects: whether there is a mark changes
   * nothing about the answer to the challenger.
   */
  async leave(name: string, entry: CasEntry<V>, end: number, call: StoreCall): Promise<void> {
    const { version, readAt, writtenAt, doubtedSince } = entry
    if (this.#register.doubt === undefined || !isTime(readAt) || isTime(writtenAt) || isTime(doubtedSince)) return
    if (this.#marked.get(name) === true) return
    this.#marked.set(name, true)
    const limit = Math.max(end - this.#clock.now(), 0) / 2
    // The answer to the challenger ends its call, which would then no longer end a request that hangs.
    const own = new AbortableCall(limit)
    const giveUp = (): void => own.abort(new Error('there was no time left for the mark'))
    const forget = call.onAbort(giveUp)
    try {
      const marked = this.#register.doubt(name, version, readAt, own)
      await (limit === Number.POSITIVE_INFINITY ? marked : inTime(this.#clock, limit, marked, giveUp))
    } catch {
      // The next challenger makes the mark.
    } finally {
      forget()
    }
  }
}
