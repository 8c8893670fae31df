// #region written
import type { CasEntry, CasRecord, CasWritten, StoreCall } from '@leasehold/core/store'
import { MapRegister } from './map-register.js'

/** A register whose store has a clock and times each write. Over HTTP: the headers `Date` and `Last-Modified`. */
export class TimedRegister extends MapRegister {
  /** This clock shows milliseconds, and there is one server. */
  readonly clockError = 2
  readonly #now: () => number
  readonly #writtenAt = new Map<string, number>()

  constructor(now: () => number) {
    super()
    this.#now = now
  }

  override async read(name: string, call: StoreCall): Promise<CasEntry<number> | undefined> {
    const entry = await super.read(name, call)
    return entry && { ...entry, readAt: this.#now(), writtenAt: this.#writtenAt.get(name) ?? Number.NaN }
  }

  override async create(...[name, record, call]: Parameters<MapRegister['create']>) {
    return this.#timed(name, await super.create(name, record, call))
  }

  override async replace(name: string, record: CasRecord, version: number, call: StoreCall) {
    return this.#timed(name, await super.replace(name, record, version, call))
  }

  #timed(name: string, written: CasWritten<number> | undefined): CasWritten<number> | undefined {
    if (written !== undefined) this.#writtenAt.set(name, this.#now())
    return written
  }
}
// #endregion written

// #region marks
/** A register whose store has a clock, but times no write. Challengers leave marks beside the entries. */
export class MarkedRegister extends MapRegister {
  readonly clockError = 2
  readonly #now: () => number
  readonly #marks = new Map<string, { readonly version: number; readonly since: number }>()

  constructor(now: () => number) {
    super()
    this.#now = now
  }

  async doubt(name: string, version: number, since: number): Promise<void> {
    this.#marks.set(name, { version, since })
  }

  override async read(name: string, call: StoreCall): Promise<CasEntry<number> | undefined> {
    const entry = await super.read(name, call)
    if (entry === undefined) return undefined
    const mark = this.#marks.get(name)
    // A mark of another version says nothing about this one.
    const doubted = mark?.version === entry.version ? { doubtedSince: mark.since } : {}
    return { ...entry, readAt: this.#now(), ...doubted }
  }
}
// #endregion marks
