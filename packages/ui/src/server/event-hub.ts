import type { Clock } from '@leasehold/core'
import type { LeaseList } from '../observer/lease-list.js'
import type { Freshness, RecipeViews, UiFinding } from '../protocol.js'
import { EventReader, type Shown } from './event-reader.js'
import { eventBytes } from './event-text.js'
import type { Outlet } from './ui-call.js'

/** The state that the hub sends to its readers. */
export interface HubSource {
  readonly list: LeaseList
  readonly isListed: boolean
  readonly views: RecipeViews | undefined
  readonly freshness: Freshness
  /** Another list whenever they change. */
  readonly findings: readonly UiFinding[]
}

const kinds: readonly (keyof RecipeViews)[] = ['elections', 'schedules', 'semaphores', 'groups']

/** All open pages. Each event is made once for all readers that have got as far. */
export class EventHub implements Shown {
  readonly #source: HubSource
  readonly #clock: Clock
  readonly #interval: number
  readonly #readers = new Set<EventReader>()
  #freshnessCount = 0
  #freshness: Uint8Array | undefined
  #findingsMade: { readonly of: object; readonly bytes: Uint8Array } | undefined
  #viewsMade: { readonly from: object | undefined; readonly to: object; readonly bytes: Uint8Array } | undefined
  #cancel = (): void => {}

  constructor(source: HubSource, clock: Clock, interval: number) {
    this.#source = source
    this.#clock = clock
    this.#interval = interval
  }

  /** How many pages are open. */
  get size(): number {
    return this.#readers.size
  }

  get list(): LeaseList {
    return this.#source.list
  }

  get isListed(): boolean {
    return this.#source.isListed
  }

  get views(): RecipeViews | undefined {
    return this.#source.views
  }

  get findings(): readonly UiFinding[] {
    return this.#source.findings
  }

  get freshnessCount(): number {
    return this.#freshnessCount
  }

  /** Adds a page. `onEnd` is called once, when its reader has gone or the stream was ended. */
  open(outlet: Outlet, hello: Uint8Array, onEnd: () => void): EventReader {
    const reader: EventReader = new EventReader(this, outlet, hello, () => {
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#cancel()
      onEnd()
    })
    this.#readers.add(reader)
    if (this.#readers.size === 1) this.#tell()
    return reader
  }

  /** Something has changed. */
  onChange(): void {
    for (const reader of this.#readers) reader.pump()
    this.list.forgetEvents()
  }

  /** Tells how fresh the list is, now and in each interval in which nothing else does. */
  onFreshness(): void {
    if (this.#readers.size > 0) this.#tell()
  }

  close(): void {
    this.#cancel()
    for (const reader of this.#readers) reader.end()
  }

  freshnessBytes(): Uint8Array {
    this.#freshness ??= eventBytes('freshness', this.#source.freshness)
    return this.#freshness
  }

  findingsBytes(): Uint8Array {
    const { findings } = this.#source
    if (this.#findingsMade?.of !== findings) {
      this.#findingsMade = { of: findings, bytes: eventBytes('findings', findings) }
    }
    return this.#findingsMade.bytes
  }

  viewsBytes(known: RecipeViews | undefined, views: RecipeViews): Uint8Array {
    const made = this.#viewsMade
    if (made !== undefined && made.from === known && made.to === views) return made.bytes
    const changed = kinds.filter((kind) => known?.[kind] !== views[kind]).map((kind) => [kind, views[kind]] as const)
    const bytes = eventBytes('recipes', Object.fromEntries(changed))
    this.#viewsMade = { from: known, to: views, bytes }
    return bytes
  }

  #tell(): void {
    this.#cancel()
    this.#cancel = this.#clock.schedule(this.#interval, () => this.#tell())
    this.#freshnessCount += 1
    this.#freshness = undefined
    for (const reader of this.#readers) reader.pump()
  }
}
