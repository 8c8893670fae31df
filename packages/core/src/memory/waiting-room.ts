import type { Clock } from '../clock.js'
import type { TurnWatcher } from './turn-watcher.js'
import { type Place, WaitingLine } from './waiting-line.js'

/**
 * Those who wait for one name: their line, and those among them, and others, who listen. It exists only while there is
 * anyone in it. Nobody is told twice of the same turn, and of a name that becomes free only the first in line is told.
 */
export class WaitingRoom {
  readonly line = new WaitingLine()
  readonly #clock: Clock
  /** When the lock of the name ends by itself; `-Infinity` where it is free. */
  readonly #lockedUntil: () => number
  /** By the grant id of the waiter; under `undefined` those who only want to know when the name is free. */
  readonly #watchers = new Map<string | undefined, Set<TurnWatcher>>()
  #wasFree = false
  /** Whose turn it was when the name was last seen to be free. */
  #turnOf: Place | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock, lockedUntil: () => number) {
    this.#clock = clock
    this.#lockedUntil = lockedUntil
  }

  /** Nobody waits and nobody listens: it can be forgotten. */
  get isEmpty(): boolean {
    return this.line.size === 0 && this.#watchers.size === 0
  }

  /** Whether one with this grant id, or with none, may have the name if it is free. */
  admits(grantId: string | undefined, now: number): boolean {
    const first = this.line.first(now)
    return first === undefined || first.grantId === grantId
  }

  enter(watcher: TurnWatcher, grantId: string | undefined): void {
    let watchers = this.#watchers.get(grantId)
    if (watchers === undefined) {
      watchers = new Set()
      this.#watchers.set(grantId, watchers)
    }
    watchers.add(watcher)
    const now = this.#clock.now()
    this.update(now)
    // What happened before it began to listen, it would miss.
    if (this.#wasFree && (grantId === undefined || this.admits(grantId, now))) watcher.wake()
  }

  leave(watcher: TurnWatcher, grantId: string | undefined): void {
    const watchers = this.#watchers.get(grantId)
    if (watchers === undefined) return
    watchers.delete(watcher)
    if (watchers.size === 0) this.#watchers.delete(grantId)
    if (this.#watchers.size === 0) this.#disarm()
  }

  /** Looks whose turn it is and wakes whoever has not been told so: after each change, and when a timer is due. */
  update(now: number): void {
    const lockedUntil = this.#lockedUntil()
    if (now < lockedUntil) {
      this.#wasFree = false
      this.#arm(lockedUntil, now)
      return
    }
    const first = this.line.first(now)
    const isNews = !this.#wasFree
    if (isNews) this.#wake(undefined)
    if (isNews || first !== this.#turnOf) {
      if (first === undefined) this.#wakePlaceless()
      else this.#wake(first.grantId)
    }
    this.#wasFree = true
    this.#turnOf = first
    // One who does not come when it is his turn makes way for the next when his place is dead.
    this.#arm(first?.aliveUntil ?? Number.POSITIVE_INFINITY, now)
  }

  /** Ends all who listen. */
  close(): void {
    for (const watchers of [...this.#watchers.values()]) {
      for (const watcher of watchers) watcher.end()
    }
    this.#disarm()
  }

  #wake(grantId: string | undefined): void {
    for (const watcher of this.#watchers.get(grantId) ?? []) watcher.wake()
  }

  /** Nobody is in line, so none of those who listen for a turn has a place: it may be the turn of any. */
  #wakePlaceless(): void {
    for (const grantId of this.#watchers.keys()) {
      if (grantId !== undefined) this.#wake(grantId)
    }
  }

  /** An earlier timer is left to run, and then looks again: a lock that is renewed need not move it. */
  #arm(at: number, now: number): void {
    if (this.#watchers.size === 0 || at === Number.POSITIVE_INFINITY) {
      this.#disarm()
      return
    }
    if (this.#timerAt <= at) return
    this.#disarm()
    this.#timerAt = at
    // Whole milliseconds, as timers have them: a part of one cut off would let it look too early.
    this.#cancelTimer = this.#clock.schedule(Math.ceil(at - now), () => {
      this.#disarm()
      this.update(this.#clock.now())
    })
  }

  #disarm(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#timerAt = Number.POSITIVE_INFINITY
  }
}
