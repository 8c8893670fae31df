import type { HistoryAnswer, HistoryRequest, HistorySpan } from '../../src/protocol.js'
import type { PageClock } from '../time/page-clock.js'

export interface HistoryCacheOptions {
  readonly clock: PageClock
  readonly ask: (request: HistoryRequest) => Promise<HistoryAnswer>
  /** The range that the server remembers, in its time. */
  readonly range: () => { readonly from: number; readonly to: number }
  readonly onChange: () => void
  /** Whether an answer is likely: while the server is away, nothing is asked. */
  readonly isLive: () => boolean
}

/** The server takes no more names in one request. */
const mostNames = 500

/** With more histories than this, those that are not seen are forgotten: a page may stay open for weeks. */
const mostKept = 2_000

/** Between two requests, in milliseconds: leases that change all the time cost one request for all of them. */
const pause = 1_000

/** The history of the leases that are seen, asked for again when they change. */
export class HistoryCache {
  readonly #options: HistoryCacheOptions
  readonly #spans = new Map<string, readonly HistorySpan[]>()
  readonly #cut = new Set<string>()
  readonly #dirty = new Set<string>()
  #wanted: readonly string[] = []
  /** The names of the request that is on its way. */
  #asked: ReadonlySet<string> = new Set()
  #isBusy = false
  #last: HistoryAnswer | undefined
  #error: string | undefined

  constructor(options: HistoryCacheOptions) {
    this.#options = options
  }

  /** Since when the server has looked; `undefined` until it has answered. */
  get observedSince(): number | undefined {
    return this.#last?.observedSince
  }

  /** When the server could not look. */
  get blind(): HistoryAnswer['blind'] {
    return this.#last?.blind ?? []
  }

  /** Why the last request failed. */
  get error(): string | undefined {
    return this.#error
  }

  spansOf(name: string): readonly HistorySpan[] | undefined {
    return this.#spans.get(name)
  }

  /** Whether older spans of this name were forgotten. */
  isCut(name: string): boolean {
    return this.#cut.has(name)
  }

  /** The names that are seen now. */
  want(names: readonly string[]): void {
    this.#wanted = names
    if (this.#spans.size > mostKept) this.#forgetUnseen()
    this.#ask()
  }

  changed(names: readonly string[] | 'all'): void {
    for (const name of names === 'all' ? [...this.#spans.keys(), ...this.#asked] : names) {
      if (this.#spans.has(name) || this.#asked.has(name)) this.#dirty.add(name)
    }
    this.#ask()
  }

  #forgetUnseen(): void {
    const wanted = new Set(this.#wanted)
    for (const name of this.#spans.keys()) {
      if (wanted.has(name)) continue
      this.#spans.delete(name)
      this.#cut.delete(name)
      this.#dirty.delete(name)
    }
  }

  #ask(): void {
    if (this.#isBusy || !this.#options.isLive()) return
    const names = this.#wanted.filter((name) => !this.#spans.has(name) || this.#dirty.has(name)).slice(0, mostNames)
    if (names.length === 0) return
    this.#isBusy = true
    // The answer may lack later changes: they make a name dirty again.
    for (const name of names) this.#dirty.delete(name)
    this.#asked = new Set(names)
    void this.#request(names).finally(() => {
      this.#asked = new Set()
      this.#options.onChange()
      this.#options.clock.schedule(pause, () => {
        this.#isBusy = false
        this.#ask()
      })
    })
  }

  async #request(names: readonly string[]): Promise<void> {
    try {
      const answer = await this.#options.ask({ names, ...this.#options.range() })
      this.#last = answer
      this.#error = undefined
      for (const name of names) {
        this.#spans.set(name, Object.hasOwn(answer.spans, name) ? (answer.spans[name] ?? []) : [])
        this.#cut.delete(name)
      }
      for (const name of answer.isCut) this.#cut.add(name)
    } catch (cause) {
      for (const name of names) this.#dirty.add(name)
      this.#error = cause instanceof Error ? cause.message : String(cause)
    }
  }
}
