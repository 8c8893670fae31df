import type { StoreCall } from '@leasehold/core/store'
import type { Floor } from '../answers.js'
import { NoFloorError } from '../failure-of.js'
import { type Electorate, partOf } from './electorate.js'
import { KIND, type Tally } from './tally.js'

/** How long the servers may take to return their floors and to learn, in milliseconds. */
const LIMIT = 2_000

/** How often an operation is repeated after its server has learned: the server may lose its data again. */
const REPETITIONS = 2

/** A floor, and the places of the servers that have none. */
interface Lesson {
  readonly floor: bigint
  readonly places: readonly number[]
}

/**
 * Keeps fencing tokens growing when a server has lost its data. Each server keeps a floor: the largest token that it has
 * given or taken over, of any name. A server without a floor gives no token until it has learned one that is at least as
 * large as each token that it may have forgotten.
 *
 * An agreed token is in the floors of a majority of m servers. If one of these loses its data, m - 1 are left, and any m of
 * the other 2m - 2 servers contain one of them. So the floors of a majority of other servers are enough.
 */
export class Floors {
  readonly #electorate: Electorate
  /** The largest token that this store was granted. */
  #largest = 0n
  #learning: Promise<void> | undefined
  /** The places of the servers that are to learn. */
  readonly #pupils = new Set<number>()

  constructor(electorate: Electorate) {
    this.#electorate = electorate
  }

  /** The servers have agreed on this token. */
  note(fencingToken: bigint): void {
    if (fencingToken > this.#largest) this.#largest = fencingToken
  }

  /** Sends an operation that gives a token, and repeats it when the server has learned the floor that it lacked. */
  async ask<T>(place: number, name: string, call: StoreCall, send: (call: StoreCall) => Promise<T>): Promise<T> {
    for (let repetition = 0; ; repetition += 1) {
      try {
        return await send(partOf(call))
      } catch (error) {
        if (!(error instanceof NoFloorError) || repetition === REPETITIONS) throw error
      }
      this.#pupils.add(place)
      this.#learning ??= this.#learn(name).finally(() => {
        this.#learning = undefined
        this.#pupils.clear()
      })
      await this.#learning
    }
  }

  async #learn(name: string): Promise<void> {
    await this.#electorate.within(LIMIT, 'learning the floor of the servers', name, async (call) => {
      const { floor, places } = await this.#electorate.poll<Floor, Lesson>(
        {
          ask: (member, own) => member.floor(name, own),
          decide: (tally) => this.#lessonIn(name, tally),
        },
        call,
      )
      // The votes of the others may have decided before the vote of a pupil came in.
      const pupils = new Set([...places, ...this.#pupils])
      const { members } = this.#electorate
      await Promise.allSettled([...pupils].map((place) => members[place]?.learn(name, floor, partOf(call))))
    })
  }

  #lessonIn(name: string, tally: Tally<Floor>): Lesson | undefined {
    const { values, votes, majority } = tally
    const floors = values.flatMap(({ floor }) => floor ?? [])
    const places = votes.flatMap((vote, place) => {
      return vote !== undefined && 'value' in vote && vote.value.floor === undefined ? [place] : []
    })
    if (floors.length >= majority) return { floor: largestOf(floors), places }
    // Too many servers have lost their data to know all tokens: the clocks must then be ahead of them.
    const guessed: Lesson = { floor: largestOf([...floors, ...values.map(({ now }) => now), this.#largest]), places }
    if (values.length === votes.length) return guessed
    // The reachable servers are new: the first lease must not need all servers.
    if (floors.length === 0 && values.length >= majority && !tally.isOpen) return guessed
    if (!tally.isFinal) return undefined
    throw new NoFloorError(
      `a server has lost its data: it takes part again when ${majority} others, or all servers, can be reached`,
      { leaseName: name, store: KIND, cause: tally.errors[0] },
    )
  }
}

export function largestOf(tokens: readonly bigint[]): bigint {
  let largest = 0n
  for (const token of tokens) if (token > largest) largest = token
  return largest
}
