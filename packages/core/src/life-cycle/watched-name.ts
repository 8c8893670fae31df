import type { Clock } from '../time/clock.js'
import type { TurnWatch } from './turn-watch.js'

/** The state of a name, as far as its waiters need it. */
export interface TurnState {
  /** For how long the name stays locked, in milliseconds; 0 if it is free. */
  readonly lockedFor: number
  /** The token of the last grant: another one means that the name was locked in between. */
  readonly fencingToken?: bigint | undefined
  /** The grant id of the holder, while the name is locked. */
  readonly heldBy?: string | undefined
  /** The first place in the queue, and for how long it is kept, in milliseconds. */
  readonly first?: { readonly grantId: string; readonly keptFor: number } | undefined
}

/**
 * The watches of one name. No watch is notified twice of the same turn. When the name becomes free, the first waiter in
 * the queue is notified, and watches without a grant id; without a queue, all watches.
 */
export class WatchedName {
  readonly #clock: Clock
  readonly #look: () => TurnState
  readonly #longestSleep: number
  /** By the grant id of the waiter. */
  readonly #watches = new Map<string | undefined, Set<TurnWatch>>()
  #isFree = false
  /** The holder when the name was last seen to be locked. */
  #heldBy: string | undefined
  #fencingToken: bigint | undefined
  /** The first waiter when the name was last seen to be free. */
  #turnOf: string | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #cancelTimer: (() => void) | undefined

  /** Looks at the state at least every `longestSleep` milliseconds. */
  constructor(clock: Clock, look: () => TurnState, longestSleep: number) {
    this.#clock = clock
    this.#look = look
    this.#longestSleep = longestSleep
  }

  get isEmpty(): boolean {
    return this.#watches.size === 0
  }

  add(watch: TurnWatch, grantId: string | undefined): void {
    const watches = this.#watches.get(grantId) ?? new Set()
    this.#watches.set(grantId, watches)
    this.update()
    watches.add(watch)
    const isItsTurn = grantId === undefined || this.#turnOf === undefined || this.#turnOf === grantId
    // A change to its grant id may have come before its watch.
    const isGranted = grantId !== undefined && this.#heldBy === grantId
    if ((this.#isFree && isItsTurn) || isGranted) watch.notify()
  }

  remove(watch: TurnWatch, grantId: string | undefined): void {
    const watches = this.#watches.get(grantId)
    if (watches === undefined) return
    watches.delete(watch)
    if (watches.size === 0) this.#watches.delete(grantId)
    if (this.isEmpty) this.#disarm()
  }

  /** Notifies the watches whose turn it has become: after each change of the name, and when a lock or place ends. */
  update(): void {
    const { lockedFor, fencingToken, heldBy, first } = this.#look()
    const isChanged = !this.#isFree && this.#heldBy !== undefined && heldBy !== this.#heldBy
    this.#heldBy = heldBy
    if (lockedFor > 0) {
      this.#isFree = false
      // A waiter to whom the lease was changed does not know that it holds it.
      if (isChanged && heldBy !== undefined) this.#notify(heldBy)
      this.#arm(lockedFor)
      return
    }
    const isNews = !this.#isFree || fencingToken !== this.#fencingToken
    if (isNews) this.#notify(undefined)
    if (isNews || first?.grantId !== this.#turnOf) {
      if (first !== undefined) this.#notify(first.grantId)
      else for (const grantId of this.#watches.keys()) if (grantId !== undefined) this.#notify(grantId)
    }
    this.#isFree = true
    this.#fencingToken = fencingToken
    this.#turnOf = first?.grantId
    // If the first waiter does not acquire, it is the turn of the next when the place ends.
    this.#arm(first?.keptFor ?? Number.POSITIVE_INFINITY)
  }

  close(): void {
    for (const watches of [...this.#watches.values()]) for (const watch of [...watches]) watch.end()
    this.#disarm()
  }

  #notify(grantId: string | undefined): void {
    for (const watch of this.#watches.get(grantId) ?? []) watch.notify()
  }

  /** An earlier timer is kept, and looks again: a renewed lock does not move it. */
  #arm(delay: number): void {
    const sleep = Math.min(delay, this.#longestSleep)
    if (this.isEmpty || sleep === Number.POSITIVE_INFINITY) {
      this.#disarm()
      return
    }
    const at = this.#clock.now() + sleep
    if (this.#timerAt <= at) return
    this.#disarm()
    this.#timerAt = at
    // Whole milliseconds, as timers have them: rounded down, the timer would look too early.
    this.#cancelTimer = this.#clock.schedule(Math.ceil(sleep), () => {
      this.#disarm()
      this.update()
    })
  }

  #disarm(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#timerAt = Number.POSITIVE_INFINITY
  }
}
