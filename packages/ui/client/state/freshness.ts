import type { ErrorBody, Freshness } from '../../src/protocol.js'
import type { PageClock } from '../time/page-clock.js'

/** Whether what the page shows is true now. */
export type Status =
  /** No list has come yet. */
  | { readonly kind: 'connecting'; readonly error?: ErrorBody }
  | { readonly kind: 'live' }
  /** The rows were true at `asOf`, on the clock of the page. */
  | { readonly kind: 'stale'; readonly asOf: number; readonly error: ErrorBody }
  /** The server asks for a token. */
  | { readonly kind: 'locked'; readonly error: ErrorBody }

/** After this many intervals without a new list, the page is stale. */
const patience = 3

const silence: ErrorBody = { code: 'silence', message: 'The server has not sent a new list for a while.' }

/** Decides when rows count as stale: at once when the stream ends, and when no new list has come for three intervals. */
export class FreshnessWatch {
  readonly #clock: PageClock
  readonly #onChange: () => void
  #status: Status = { kind: 'connecting' }
  #interval = 1_000
  /** When the list that the page shows was read. */
  #listedAt: number | undefined
  /** Whether the stream that is open now has sent its list: what it says about its age is about that list only. */
  #hasList = false
  #last: { readonly listedAt: number; readonly error: ErrorBody | undefined } | undefined
  #cancel: () => void = () => {}

  constructor(clock: PageClock, onChange: () => void) {
    this.#clock = clock
    this.#onChange = onChange
  }

  get status(): Status {
    return this.#status
  }

  opened(): void {
    this.#hasList = false
    this.#last = undefined
  }

  greeted(interval: number): void {
    this.#interval = interval
  }

  listed(): void {
    this.#hasList = true
    this.#judge()
  }

  heard({ age, error }: Freshness): void {
    this.#last = { listedAt: this.#clock.now() - age, error }
    this.#judge()
  }

  ended(error: ErrorBody, isLocked: boolean): void {
    this.#hasList = false
    this.#cancel()
    if (isLocked) this.#become({ kind: 'locked', error })
    else this.#becomeStale(error)
  }

  #judge(): void {
    if (!this.#hasList || this.#last === undefined) return
    const { listedAt, error } = this.#last
    this.#listedAt = listedAt
    this.#cancel()
    const rest = listedAt + patience * this.#interval - this.#clock.now()
    if (error !== undefined) {
      this.#becomeStale(error)
    } else if (rest <= 0) {
      this.#becomeStale(silence)
    } else {
      this.#cancel = this.#clock.schedule(rest, () => this.#becomeStale(silence))
      this.#become({ kind: 'live' })
    }
  }

  #becomeStale(error: ErrorBody): void {
    const asOf = this.#listedAt
    this.#become(asOf === undefined ? { kind: 'connecting', error } : { kind: 'stale', asOf, error })
  }

  #become(status: Status): void {
    if (status.kind === 'live' && this.#status.kind === 'live') return
    this.#status = status
    this.#onChange()
  }
}
