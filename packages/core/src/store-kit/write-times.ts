import type { StoreCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'
import { RecentMap } from './recent-map.js'
import { endOfSecond, isSettled, KNOWN_NAMES, settling, tokenTime, type WriteStamp } from './write-time.js'

/** A version of an entry, with its times. */
export interface VersionStamp extends WriteStamp {
  readonly version: string
}

/**
 * The times of the entries of a register whose service gives its time in whole seconds, for `CasRegister.timeAfter`. Use one
 * for each store.
 */
export class WriteTimes {
  readonly #clock: Clock
  /** The last answer about each name. */
  readonly #stamps = new RecentMap<VersionStamp>(KNOWN_NAMES)
  /** The last write of each name, where this process knows that none was lost before it. See {@link KNOWN_NAMES}. */
  readonly #known = new RecentMap<VersionStamp>(KNOWN_NAMES)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Keeps the times in an answer about an entry. */
  keep(name: string, stamp: VersionStamp): void {
    this.#stamps.set(name, stamp)
  }

  /** Keeps the times in the answer to a write over the version `over`. */
  keepWrite(name: string, over: string, stamp: VersionStamp): void {
    this.keep(name, stamp)
    if (this.#known.get(name)?.version === over) this.#known.set(name, stamp)
  }

  /**
   * The time of the service for a token after the write of this version. Waits for the end of the second of that write,
   * unless the write is known to be the last one. `find` asks for the entry; `undefined`: it is gone, and the write that
   * needs the time will fail.
   */
  async timeAfter(
    name: string,
    version: string,
    find: () => Promise<VersionStamp | undefined>,
    call: StoreCall,
  ): Promise<bigint> {
    const kept = this.#stamps.get(name)
    const stamp = kept?.version === version ? kept : await find()
    if (stamp === undefined) return 0n
    const known = this.#known.get(name)
    // A later time: an entry with the same version was written again, from a copy.
    const isKnown = known?.version === version && stamp.lastModified <= known.lastModified
    if (!isKnown && !isSettled(stamp)) await this.settle(name, stamp, call)
    // From now on, the writes of this process over this version are known.
    this.#known.set(name, { ...stamp, version })
    return tokenTime(stamp, isKnown)
  }

  /** Waits until the second of the last write is over. */
  async settle(name: string, stamp: VersionStamp, call: StoreCall): Promise<void> {
    await settling(this.#clock, call)
    this.#stamps.set(name, { ...stamp, date: endOfSecond(stamp) })
  }
}
