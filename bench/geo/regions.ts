import type { VirtualTime } from '@leasehold/testkit'
import type { Random } from '../../packages/testkit/src/random.js'

/** A and B are the nearest to each other, B and C the farthest. */
export type Region = 'A' | 'B' | 'C'

export const regions: readonly Region[] = ['A', 'B', 'C']

/** Round trips in milliseconds without jitter. */
export const ROUND_TRIPS: Readonly<Record<Region, Readonly<Record<Region, number>>>> = {
  A: { A: 1, B: 80, C: 140 },
  B: { A: 80, B: 1, C: 200 },
  C: { A: 140, B: 200, C: 1 },
}

export const LONGEST_ROUND_TRIP = 200

/** By how much a message is late, up to this part of its way. */
const JITTER = 0.1

/** TCP sends a lost packet again after this time and a round trip, and then waits twice as long (milliseconds). */
export const RETRANSMISSION = 200

export interface NetworkOptions {
  /** The part of the packets that are lost between regions, and sent again; 0 unless given. */
  readonly packetLoss?: number
}

/** The links between the regions: each message takes its way, and is lost while a region or a link is silent. */
export class RegionNetwork {
  readonly #time: VirtualTime
  readonly #random: Random
  readonly #packetLoss: number
  readonly #silent = new Set<string>()

  constructor(time: VirtualTime, random: Random, { packetLoss = 0 }: NetworkOptions = {}) {
    this.#time = time
    this.#random = random
    this.#packetLoss = packetLoss
  }

  /** Nothing leaves the region or reaches it, until `restore`. Within it, all goes on. */
  isolate(region: Region): void {
    for (const other of regions) if (other !== region) this.cut(region, other)
  }

  /** Nothing passes between two regions, until `restore`. */
  cut(one: Region, other: Region): void {
    this.#silent.add(one + other).add(other + one)
  }

  restore(): void {
    this.#silent.clear()
  }

  isSilent(from: Region, to: Region): boolean {
    return this.#silent.has(from + to)
  }

  /** How long a message takes, in milliseconds. */
  way(from: Region, to: Region): number {
    const roundTrip = ROUND_TRIPS[from][to]
    let way = (roundTrip / 2) * (1 + this.#random.between(0, JITTER))
    if (from === to) return way
    for (let wait = RETRANSMISSION + roundTrip; this.#random.chance(this.#packetLoss); wait *= 2) way += wait
    return way
  }

  send(from: Region, to: Region, deliver: () => void): void {
    // Drawn also for messages that are lost, so that a fault does not change other messages.
    const way = this.way(from, to)
    if (!this.isSilent(from, to)) this.#time.schedule(way, deliver)
  }
}
