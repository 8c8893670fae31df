import type { ErrorBody, Hello, RecipeViews, ServerEvents, UiFinding } from '../../src/protocol.js'
import { Listing, type ListView } from '../list/listing.js'
import type { ConnectionListener } from '../stream/connection.js'
import type { PageClock } from '../time/page-clock.js'
import { FreshnessWatch, type Status } from './freshness.js'
import { Topics } from './topics.js'

/** The `date` header has whole seconds, and needs some time to come: a smaller difference says nothing. */
const unsureAbout = 2_000

export interface PageStateOptions {
  readonly clock: PageClock
  /** Loads the page again: the server has another version. */
  readonly reload: () => void
}

/** All that the server has said. */
export class PageState implements ConnectionListener {
  readonly topics = new Topics()
  readonly listing = new Listing()
  readonly clock: PageClock
  readonly #reload: () => void
  readonly #freshness: FreshnessWatch
  #hello: Hello | undefined
  #findings: readonly UiFinding[] = []
  #recipes: RecipeViews = { elections: [], schedules: [], semaphores: [], groups: [] }
  /** How far the clock of the server is ahead of the reader's. */
  #ahead = 0
  #onLook: (view: ListView) => void = () => {}
  #onNames: (names: readonly string[] | 'all') => void = () => {}

  constructor({ clock, reload }: PageStateOptions) {
    this.clock = clock
    this.#reload = reload
    this.#freshness = new FreshnessWatch(clock, () => this.topics.changed('status'))
  }

  get hello(): Hello | undefined {
    return this.#hello
  }

  get status(): Status {
    return this.#freshness.status
  }

  get findings(): readonly UiFinding[] {
    return this.#findings
  }

  get recipes(): RecipeViews {
    return this.#recipes
  }

  /** Now, in milliseconds since 1970 by the clock of the server. */
  get serverNow(): number {
    return this.clock.wall() + this.#ahead
  }

  /** The instant up to which the page knows the leases, by the clock of the server. */
  get knownUntil(): number {
    const { status } = this
    return status.kind === 'stale' ? this.serverNow - (this.clock.now() - status.asOf) : this.serverNow
  }

  look(view: ListView): void {
    this.listing.look(view)
    this.#onLook(view)
    this.topics.changed('leases')
  }

  /** Calls `listener` when the reader looks at the list in another way. */
  onLook(listener: (view: ListView) => void): void {
    this.#onLook = listener
  }

  /** Calls `listener` with the names whose rows changed; with `all` after a new list. */
  onNames(listener: (names: readonly string[] | 'all') => void): void {
    this.#onNames = listener
  }

  onOpen(serverDate: number | undefined): void {
    const ahead = serverDate === undefined ? 0 : serverDate - this.clock.wall()
    this.#ahead = Math.abs(ahead) > unsureAbout ? ahead : 0
    this.#freshness.opened()
  }

  onEnd(error: ErrorBody, status: number | undefined): void {
    this.#freshness.ended(error, status === 401)
  }

  onEvent<K extends keyof ServerEvents>(event: K, data: ServerEvents[K]): void {
    // An event of a later version is skipped: its hello has made the page load again.
    this.#handlers[event]?.(data)
  }

  readonly #handlers: { readonly [K in keyof ServerEvents]: (data: ServerEvents[K]) => void } = {
    hello: (hello) => {
      if (this.#hello !== undefined && this.#hello.version !== hello.version) this.#reload()
      this.#hello = hello
      this.#freshness.greeted(hello.interval)
      this.topics.changed('status')
    },
    list: (part) => {
      this.listing.addPart(part, this.clock.now())
      if (!part.isLast) return
      this.#freshness.listed()
      this.topics.changed('leases')
      this.#onNames('all')
    },
    changes: (changes) => {
      this.#onNames(this.listing.change(changes, this.clock.now()))
      this.topics.changed('leases')
    },
    freshness: (freshness) => this.#freshness.heard(freshness),
    findings: (findings) => {
      this.#findings = findings
      this.topics.changed('findings')
    },
    recipes: (recipes) => {
      this.#recipes = { ...this.#recipes, ...recipes }
      this.topics.changed('recipes')
    },
  }
}
