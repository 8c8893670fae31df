import type { Grant } from '@leasehold/core'
import type { AcquireOutcome, StoreCall } from '@leasehold/core/store'
import { type Floor, NoFloorError } from '@leasehold/redis/internal'
import { type Electorate, partOf } from './electorate.js'
import { agreedToken, tokensIn } from './outcomes.js'
import { latestMetadata } from './records.js'
import { KIND, type Question, type Tally, undecided } from './tally.js'

/** How long the servers may take to return their floors and to learn, in milliseconds. */
const LIMIT = 2_000

/** How often an operation is repeated after its server has learned: the server may lose its data again. */
const REPETITIONS = 2

/**
 * Agrees on the fencing token of each grant, and keeps tokens growing when a server has lost its data.
 *
 * Each server keeps a floor: the largest token that it has given or taken over, of any name. A server without a floor gives
 * no token until it has learned one that is at least as large as each token that it may have forgotten. An agreed token is
 * in the floors of a majority of m servers. If one of these loses its data, m - 1 are left, and any m of the other 2m - 2
 * servers contain one of them. So the floors of a majority of other servers are enough.
 */
export class FencingTokens {
  readonly #electorate: Electorate
  /** The largest token that this store was granted. */
  #largest = 0n
  #learning: Promise<void> | undefined
  /** The places of the servers that are to learn. */
  readonly #pupils = new Set<number>()

  constructor(electorate: Electorate) {
    this.#electorate = electorate
  }

  /**
   * Agrees on the token of a grant that a majority has given, each server under a token of its own counter. The agreed token
   * is the largest of these, and a majority has it in its records and floors before the caller learns it. Any later majority
   * has a server of this one, which gives a larger token, whatever the counters and clocks of the others are.
   *
   * If a majority already has the same token, that is the agreed one: a repeated grant keeps its token. Rejects if no
   * majority accepts the token: the grant must not be used then.
   */
  async confirm(
    question: Question,
    tally: Tally<AcquireOutcome>,
    claim: Omit<Grant, 'fencingToken'>,
    call: StoreCall,
  ): Promise<AcquireOutcome> {
    const fencingToken = agreedToken(tally) ?? (await this.#raise(question, tally, claim, call))
    this.note(fencingToken)
    const previous = latestMetadata(tally.values.map((vote) => (vote.granted ? vote.previous : undefined)))
    return { granted: true, grant: { ...claim, fencingToken }, ...(previous === undefined ? {} : { previous }) }
  }

  /** Keeps in mind that this token was given. */
  note(fencingToken: bigint): void {
    this.#largest = largestOf([this.#largest, fencingToken])
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

  /** Raises the token of each server to the largest. */
  async #raise(
    question: Question,
    tally: Tally<AcquireOutcome>,
    claim: Omit<Grant, 'fencingToken'>,
    call: StoreCall,
  ): Promise<bigint> {
    const tokens = tokensIn(tally)
    const largest = largestOf(tokens.filter((token) => token !== undefined))
    const raised = { ...claim, fencingToken: largest }
    return await this.#electorate.poll<AcquireOutcome, bigint>(call, {
      ask: async (member, own, place) => {
        if (tokens[place] === largest) return { granted: true, grant: raised }
        // A server that has not answered may have granted the request meanwhile, with a token of its own.
        const mayHaveIt = tokens[place] !== undefined || tally.votes[place] === undefined
        return mayHaveIt ? await member.agree(raised, largest, own) : { granted: false }
      },
      decide: (raises) => {
        const carriers = raises.values.filter((outcome) => outcome.granted && outcome.grant.fencingToken >= largest)
        if (carriers.length >= raises.majority) return largest
        if (raises.isFinal) throw undecided(question, raises)
        return undefined
      },
    })
  }

  async #learn(name: string): Promise<void> {
    await this.#electorate.within(LIMIT, 'learning the floor of the servers', name, async (call) => {
      const floor = await this.#electorate.poll<Floor, bigint>(call, {
        ask: (member, own) => member.floor(name, own),
        decide: (tally) => this.#floorIn(name, tally),
      })
      const { members } = this.#electorate
      await Promise.allSettled([...this.#pupils].map((place) => members[place]?.learn(name, floor, partOf(call))))
    })
  }

  #floorIn(name: string, tally: Tally<Floor>): bigint | undefined {
    const { values, votes, majority } = tally
    const floors = values.flatMap(({ floor }) => floor ?? [])
    if (floors.length >= majority) return largestOf(floors)
    // If all servers have answered, too many have lost their data to know all tokens: the clocks must then be ahead of them.
    // If none of a majority has a floor, they are new: the first lease must not need all servers.
    const areNew = floors.length === 0 && values.length >= majority && !tally.isOpen
    if (values.length === votes.length || areNew) {
      return largestOf([...floors, ...values.map(({ now }) => now), this.#largest])
    }
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
