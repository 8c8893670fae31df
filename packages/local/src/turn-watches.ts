import { AbortListeners, type Clock } from '@leasehold/core'
import type { Boot } from './boot.js'
import type { LeaseCycle } from './lease-cycle.js'
import { isLocked, remainingOf, stateAt } from './stored-record.js'
import { TurnWatch } from './turn-watch.js'
import type { WaitQueue } from './wait-queue.js'
import { bellOf, type WakeBells } from './wake-bells.js'

/**
 * The longest time between two looks at a name that is watched, in milliseconds: finds what nobody rings for, such as
 * the death of the process whose turn it was.
 */
const LONGEST_SLEEP = 1_000

interface WatchedName {
  readonly name: string
  readonly bell: number
  readonly watches: Set<TurnWatch>
  cancel: () => void
}

/** Where the watches look, and how they are heard of. */
export interface WatchSources {
  readonly clock: Clock
  readonly boot: Boot
  readonly cycle: LeaseCycle
  readonly queue: WaitQueue
  readonly bells: WakeBells
  /** Makes what is read next current. */
  readonly refresh: () => void
  /** Has the next who frees the name ring. */
  readonly ask: (name: string) => void
}

/** The watches of one store: what is read for a name serves all who watch it. */
export class TurnWatches {
  readonly #sources: WatchSources
  readonly #names = new Map<string, WatchedName>()
  readonly #byBell = new Map<number, Set<WatchedName>>()
  readonly #aborts = new AbortListeners()

  constructor(sources: WatchSources) {
    this.#sources = sources
  }

  add(name: string, signal: AbortSignal, grantId: string | undefined): TurnWatch {
    const watched = this.#names.get(name) ?? this.#begin(name)
    const forget = this.#aborts.add(signal, () => watch.end())
    const watch = new TurnWatch(grantId, () => {
      forget()
      watched.watches.delete(watch)
      if (watched.watches.size === 0) this.#stop(watched)
    })
    watched.watches.add(watch)
    this.#look(watched, [watch])
    return watch
  }

  /** Looks at names that were freed by this process. */
  freed(names: ReadonlySet<string>): void {
    for (const name of names) {
      const watched = this.#names.get(name)
      if (watched !== undefined) this.#look(watched)
    }
  }

  close(): void {
    for (const { watches } of [...this.#names.values()]) for (const watch of [...watches]) watch.end()
  }

  #begin(name: string): WatchedName {
    const watched: WatchedName = { name, bell: bellOf(name), watches: new Set(), cancel: () => {} }
    this.#names.set(name, watched)
    const bell = this.#byBell.get(watched.bell) ?? new Set()
    this.#byBell.set(watched.bell, bell.add(watched))
    this.#sources.bells.listen((rung) => this.#rung(rung))
    return watched
  }

  #stop(watched: WatchedName): void {
    watched.cancel()
    this.#names.delete(watched.name)
    this.#byBell.get(watched.bell)?.delete(watched)
    if (this.#names.size === 0) this.#sources.bells.silence()
  }

  #rung(bell: number): void {
    for (const watched of [...(this.#byBell.get(bell) ?? [])]) this.#look(watched)
  }

  /** Wakes whose turn it is, and looks again when the state can have changed by itself. */
  #look(watched: WatchedName, watches: Iterable<TurnWatch> = watched.watches): void {
    const { clock } = this.#sources
    watched.cancel()
    let sleep = LONGEST_SLEEP
    try {
      sleep = Math.min(this.#wake(watched.name, watches), LONGEST_SLEEP)
    } catch {
      // A watch only saves polls: whoever polls is told what is wrong with the store.
    }
    watched.cancel = clock.schedule(sleep, () => this.#look(watched))
  }

  /** Returns for how long what was seen can last, in milliseconds. */
  #wake(name: string, watches: Iterable<TurnWatch>): number {
    const { boot, cycle, queue, refresh, ask } = this.#sources
    refresh()
    const now = boot.now()
    const entry = cycle.entry(name)
    if (entry !== undefined && isLocked(stateAt(entry.record, now))) {
      if (entry.places.size === 0 && !entry.record.watched) ask(name)
      return remainingOf(entry.record, now)
    }
    const first = entry === undefined ? undefined : queue.look(entry, now).first
    for (const watch of [...watches]) {
      if (watch.grantId === undefined || first === undefined || first.grantId === watch.grantId) watch.wake()
    }
    return first === undefined ? LONGEST_SLEEP : first.keptUntil - now
  }
}
