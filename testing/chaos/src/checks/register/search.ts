import type { Effect, Look, Prepared } from './prepared.js'
import type { RegisterCall } from './register-call.js'

/** A state of the register, and the calls under way that have had their effect. */
export interface Configuration {
  /** The rank of the largest token; -1 before the first. */
  readonly largest: number
  readonly value: string | undefined
  readonly done: ReadonlySet<Effect | Look>
}

/** The call whose outcome nothing explains; `undefined` if all can be explained. */
export type Unexplained = { readonly call: RegisterCall; readonly at: number } | undefined

/** The value of a write that nobody has read. */
export const unreadValue = '(not read)'

/**
 * Searches an order of the calls that a guarded register could have had (Wing and Gong), with Lowe's memory of what was
 * visited. It goes through the calls as they settle and keeps all states in which the register can be by then.
 *
 * A call that changes nothing is put in the order as soon as it fits: that excludes nothing. A write that had its effect must
 * come before any write of a larger token, and no value may be replaced before all its reads: so few orders are left to try.
 */
export class Search {
  readonly #prepared: Prepared
  readonly #effects = new Set<Effect>()
  readonly #looks = new Set<Look>()
  /** By rank, whether an unread write of this token has been called. */
  readonly #unread: Uint8Array
  #configurations: Configuration[]
  #now = Number.NEGATIVE_INFINITY

  constructor(prepared: Prepared, initial: Configuration[]) {
    this.#prepared = prepared
    this.#configurations = initial
    this.#unread = new Uint8Array(prepared.ranks)
  }

  run(): Unexplained {
    for (const { at, part, isReturn } of this.#prepared.events) {
      this.#now = at
      if (part.kind === 'unread') this.#unread[part.rank] = 1
      else if (isReturn) this.#settle(part)
      else this.#begin(part)
      if (this.#configurations.length === 0) return { call: part.call, at }
    }
    return undefined
  }

  #begin(part: Effect | Look): void {
    if (part.kind === 'effect') {
      this.#effects.add(part)
      return
    }
    this.#looks.add(part)
    this.#configurations = this.#configurations.map((configuration) => this.#look(configuration))
  }

  #settle(part: Effect | Look): void {
    const reached = new Map<string, Configuration>()
    const visited = new Set<string>()
    for (const configuration of this.#configurations) this.#reach(configuration, part, visited, reached)
    this.#configurations = [...reached.values()]
    this.#forget(part)
    // The value was read: the write whose outcome is unknown had its effect in each order that is left.
    const effect = part.kind === 'read' ? this.#prepared.effectOf.get(part.value) : undefined
    if (effect?.call.outcome === 'unknown') this.#forget(effect)
  }

  #forget(part: Effect | Look): void {
    this.#effects.delete(part as Effect)
    this.#looks.delete(part as Look)
    this.#configurations = this.#configurations.map((configuration) => {
      const done = new Set(configuration.done)
      done.delete(part)
      return { ...configuration, done }
    })
  }

  /** Adds all configurations in which this call is done. */
  #reach(
    configuration: Configuration,
    part: Effect | Look,
    visited: Set<string>,
    reached: Map<string, Configuration>,
  ): void {
    const key = this.#keyOf(configuration)
    if (visited.has(key)) return
    visited.add(key)
    if (configuration.done.has(part)) {
      reached.set(key, configuration)
      return
    }
    const next = [...this.#effects].filter((effect) => !configuration.done.has(effect))
    const least = next.reduce((rank, effect) => Math.min(rank, effect.rank), Infinity)
    // A smaller token is never accepted any more.
    if (least < configuration.largest) return
    // A write that nobody has read may have left its token only. That explains a refusal, and keeps the value.
    const largest = part.kind === 'refused' ? this.#unread.indexOf(1, part.rank + 1) : -1
    if (largest !== -1 && largest <= least) {
      this.#reach(this.#look({ ...configuration, largest }), part, visited, reached)
    }
    // A value that is still to be read stays.
    if ((this.#prepared.lastReadFrom.get(configuration.value) ?? -Infinity) > this.#now) return
    for (const effect of next) {
      if (effect.rank !== least) continue
      const done = new Set(configuration.done).add(effect)
      this.#reach(this.#look({ largest: effect.rank, value: effect.value, done }), part, visited, reached)
    }
  }

  /** With all calls that change nothing and fit in this state. */
  #look(configuration: Configuration): Configuration {
    let done: Set<Effect | Look> | undefined
    for (const look of this.#looks) {
      if (configuration.done.has(look)) continue
      const fits = look.kind === 'read' ? look.value === configuration.value : look.rank < configuration.largest
      if (fits) done = (done ?? new Set(configuration.done)).add(look)
    }
    return done === undefined ? configuration : { ...configuration, done }
  }

  /** Two states with values that nobody reads any more are the same. */
  #keyOf({ largest, value, done }: Configuration): string {
    const isRead = (this.#prepared.lastReadFrom.get(value) ?? -Infinity) > this.#now
    const ids = [...done].map(({ call }) => call.id).sort((left, right) => left - right)
    return `${largest} ${ids.join()} ${isRead ? value : unreadValue}`
  }
}
