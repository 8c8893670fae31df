import type { CasEntry, CasRecord, CasRegister, CasWritten, StoreCall } from '@leasehold/core/store'
import { MapRegister } from './map-register.js'

export interface TimedRegisterOptions {
  /** The clock of the store, in milliseconds. */
  readonly now: () => number
  /** The entry is answered with the time of its write; else with marks. */
  readonly marks?: boolean
  /** `undefined`: the register does not state it. */
  readonly clockError?: number | undefined
}

/** A register whose store has a clock: it gives the time of an answer, and the time of the last write or the mark of it. */
export class TimedRegister implements CasRegister<number> {
  readonly kind = 'timed'
  readonly clockError?: number
  readonly doubt?: NonNullable<CasRegister<number>['doubt']>
  readonly entries = new MapRegister()
  /** The marks that were made, for each version. */
  readonly marks: { readonly name: string; readonly version: number; readonly since: number }[] = []
  /** Changes the times of the next answers. */
  faulty: (entry: CasEntry<number>) => CasEntry<number> = (entry) => entry
  /** Fails the next marks. */
  failDoubt: (call: StoreCall) => Promise<void> = async () => {}
  /** That of the last mark. */
  doubtCall: StoreCall | undefined
  readonly #now: () => number
  readonly #writtenAt = new Map<number, number>()

  constructor({ now, marks = false, clockError }: TimedRegisterOptions) {
    this.#now = now
    if (clockError !== undefined) this.clockError = clockError
    if (marks) this.doubt = (name, version, since, call) => this.#doubt(name, version, since, call)
  }

  async read(name: string): Promise<CasEntry<number> | undefined> {
    const entry = await this.entries.read(name)
    if (entry === undefined) return undefined
    const { version } = entry
    const writtenAt = this.doubt === undefined ? this.#writtenAt.get(version) : undefined
    const mark = this.marks.find((made) => made.version === version)
    return this.faulty({
      ...entry,
      readAt: this.#now(),
      ...(writtenAt === undefined ? {} : { writtenAt }),
      ...(mark === undefined ? {} : { doubtedSince: mark.since }),
    })
  }

  async create(name: string, record: CasRecord): Promise<CasWritten<number> | undefined> {
    return this.#written(await this.entries.create(name, record))
  }

  async replace(name: string, record: CasRecord, version: number): Promise<CasWritten<number> | undefined> {
    return this.#written(await this.entries.replace(name, record, version))
  }

  async #doubt(name: string, version: number, since: number, call: StoreCall): Promise<void> {
    this.doubtCall = call
    await this.failDoubt(call)
    const entry = await this.entries.read(name)
    if (entry?.version === version) this.marks.push({ name, version, since })
  }

  #written(written: CasWritten<number> | undefined): CasWritten<number> | undefined {
    if (written !== undefined) this.#writtenAt.set(written.version, this.#now())
    return written
  }
}
