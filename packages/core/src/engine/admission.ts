import type { Clock } from '../time/clock.js'

/**
 * How many requests of one kind are under way at most. Their memory should be free again before the garbage collector moves
 * it to the old generation: with 4,096, collections took more time than the requests.
 */
const MOST_UNDER_WAY = 1_024

/** How many delayed requests are sent in one turn of the event loop: more would hold it up. */
const LARGEST_TURN = 512

/** A lease with a request that is due. */
export interface Delayed {
  onTimer(): void
}

/**
 * Counts the requests of one kind that the leases of a store have sent, and delays others while there are too many. If a
 * server is too slow for all requests that are due, it answers none of them in time, and each is repeated. If most wait
 * before they are sent, the others are answered.
 *
 * The bound of `Requests` cannot do this: its time limits run while an operation waits. When 10,000 waiters on Redis asked
 * at once, with a time limit of 500 ms, at most 905 of their claims took too long. Without this class, 4,831 or more did.
 */
export class Admission {
  readonly #clock: Clock
  #underWay = 0
  /** In the order in which they came. */
  readonly #delayed = new Set<Delayed>()
  #isScheduled = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether another request should be sent later, because too many are under way. */
  get isFull(): boolean {
    return this.#underWay >= MOST_UNDER_WAY
  }

  /** A request begins. */
  begin(): void {
    this.#underWay += 1
  }

  /** Requests were answered, or given up. */
  end(count: number): void {
    this.#underWay -= count
    this.#admitSoon()
  }

  /** Calls `onTimer` of the lease as soon as there is room for its request. */
  delay(lease: Delayed): void {
    this.#delayed.add(lease)
  }

  #admitSoon(): void {
    if (this.#isScheduled || this.#delayed.size === 0 || this.isFull) return
    this.#isScheduled = true
    this.#clock.schedule(0, () => {
      this.#isScheduled = false
      this.#admit()
    })
  }

  #admit(): void {
    let room = Math.min(MOST_UNDER_WAY - this.#underWay, LARGEST_TURN)
    for (const lease of this.#delayed) {
      if (room <= 0) break
      room -= 1
      this.#delayed.delete(lease)
      lease.onTimer()
    }
    this.#admitSoon()
  }
}
