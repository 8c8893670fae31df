import { Random } from '@leasehold/simulator'
import type { HistoryOf } from './history-of.js'

const TTL = 100
/** How long before the store may grant the name to another client, the holder stops to believe that it holds. */
const MARGIN = 5

/**
 * Clients that hold a name in turn, rightly: each grant ends by a release, a hand-over, an expiry, another loss or a kill. A process
 * may be stopped at any instant, so that a call seems to take longer than it did, on both sides.
 */
export class RandomGrants {
  readonly #random: Random
  readonly #history: HistoryOf
  #life = 0
  #now = 1
  #token = 0n

  constructor(seed: number, history: HistoryOf) {
    this.#random = new Random(seed)
    this.#history = history
  }

  /** Adds this number of grants. Returns the instant at which the last one ends. */
  add(grants: number): number {
    for (let grant = 0; grant < grants; grant += 1) this.#addGrant()
    return this.#now + 10 * TTL
  }

  #addGrant(): void {
    const random = this.#random
    this.#life += 1
    this.#token += 1n + BigInt(Math.floor(random.between(0, 3)))
    const token = this.#token
    const caller = { client: Math.floor(random.between(1, 4)), life: this.#life }
    const begin = this.#now
    const signs: { readonly at: number; readonly isRenewal: boolean }[] = []
    let at = begin
    let valid = begin + TTL - MARGIN
    while (random.next() < 0.7) {
      at = random.between(at, valid)
      const isRenewal = random.next() < 0.4
      if (isRenewal) valid = at + TTL - MARGIN
      signs.push({ at, isRenewal })
    }
    const gone = random.between(at, valid)
    const end = random.next()
    // A process that was killed did nothing after.
    const dead = end < 0.15 ? gone : Infinity
    let known = begin + TTL - MARGIN
    this.#history.acquired(...this.#around(begin, dead), token, known, caller)
    for (const sign of signs) {
      if (sign.isRenewal) known = sign.at + TTL - MARGIN
      if (sign.isRenewal) this.#history.renewed(sign.at, token, known, caller)
      else this.#history.held(...this.#around(sign.at, dead), token, known, caller)
    }
    const [from, to] = this.#around(gone, Infinity)
    // The process gave it up after its last sign.
    const last = Math.max(from, at)
    // A killed process frees nothing, except in stores that end its session.
    this.#now = gone + random.between(0, 2)
    if (end < 0.15) return
    if (end < 0.4) this.#history.call(last, to, { call: 'release', token, outcome: 'gone' }, caller)
    else if (end < 0.5) this.#history.call(last, to, { call: 'hand-over', token, outcome: 'handed-over' }, caller)
    else if (end < 0.6) this.#history.call(last, Infinity, { call: 'release', token, outcome: 'unknown' }, caller)
    else if (end < 0.7) this.#history.lost(to, token, 'closed', caller)
    else {
      this.#history.lost(valid + random.between(0, 3 * TTL), token, 'expired', caller)
      this.#now = valid + MARGIN
    }
  }

  /** When a call seemed to begin and to end that did its work at this instant. */
  #around(at: number, dead: number): [number, number] {
    return [at - this.#pause(), Math.min(at + this.#pause(), dead)]
  }

  #pause(): number {
    return this.#random.next() < 0.1 ? this.#random.between(0, 3 * TTL) : this.#random.between(0, 1)
  }
}
