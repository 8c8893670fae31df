import type { LeaseList, Position } from '../observer/lease-list.js'
import type { RecipeViews } from '../protocol.js'
import type { Outlet, OutletReader } from './ui-call.js'

/** The state that all readers see. */
export interface Shown {
  readonly list: LeaseList
  /** Whether there is a list yet. */
  readonly isListed: boolean
  readonly views: RecipeViews | undefined
  /** Grows with each event `freshness`. */
  readonly freshnessCount: number
  readonly findings: object
  freshnessBytes(): Uint8Array
  findingsBytes(): Uint8Array
  /** The kinds of views that have changed since. */
  viewsBytes(known: RecipeViews | undefined, views: RecipeViews): Uint8Array
}

/**
 * One open page. It remembers how far its reader has got, and nothing of what the reader has still to get: a reader that reads
 * slowly gets the rows of the time when it reads.
 */
export class EventReader implements OutletReader {
  readonly #shown: Shown
  readonly #outlet: Outlet
  readonly #onEnd: () => void
  #hasRoom: boolean
  #isOver = false
  #position: Position | undefined
  #views: RecipeViews | undefined
  #findings: object | undefined
  #freshnessCount = 0

  /** `hello`: the first event. `onEnd` is called once, when the reader has gone or the stream was ended. */
  constructor(shown: Shown, outlet: Outlet, hello: Uint8Array, onEnd: () => void) {
    this.#shown = shown
    this.#outlet = outlet
    this.#onEnd = onEnd
    this.#hasRoom = outlet.write(hello)
    this.pump()
  }

  onRoom(): void {
    this.#hasRoom = true
    this.pump()
  }

  onGone(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#onEnd()
  }

  end(): void {
    if (this.#isOver) return
    this.onGone()
    this.#outlet.end()
  }

  /** Writes what the reader does not know yet, as long as there is room. */
  pump(): void {
    while (this.#hasRoom && !this.#isOver) {
      const bytes = this.#next()
      if (bytes === undefined) return
      this.#hasRoom = this.#outlet.write(bytes)
    }
  }

  #next(): Uint8Array | undefined {
    const shown = this.#shown
    const { views, findings, freshnessCount } = shown
    if (shown.isListed) {
      this.#position ??= shown.list.start
      const next = shown.list.eventAfter(this.#position)
      if (next !== undefined) {
        this.#position = next.position
        return next.bytes
      }
    }
    if (views !== undefined && this.#views !== views) {
      const bytes = shown.viewsBytes(this.#views, views)
      this.#views = views
      return bytes
    }
    if (this.#findings !== findings) {
      this.#findings = findings
      return shown.findingsBytes()
    }
    if (this.#freshnessCount !== freshnessCount) {
      this.#freshnessCount = freshnessCount
      return shown.freshnessBytes()
    }
    return undefined
  }
}
