import type { Leader } from '@leasehold/recipes'

const KEY = 'elections'

/** The state that all processes of one schedule share: the terms that began, and the first rule that was broken. */
export class Elections {
  /** The first rule that was broken. */
  fault: string | undefined
  /** How many terms ended by a loss, and how many were given up. */
  readonly ends = { lost: 0, resigned: 0 }
  /** How many terms were transferred to another candidate. */
  transfers = 0
  /** How many changes observers saw. */
  changes = 0
  readonly #owners = new Map<bigint, string>()
  #latest = -1n

  static of(shared: Map<string, unknown>): Elections {
    const known = shared.get(KEY) as Elections | undefined
    const elections = known ?? new Elections()
    shared.set(KEY, elections)
    return elections
  }

  /** The number of terms that began. */
  get terms(): number {
    return this.#owners.size
  }

  isLatest(leader: Leader | undefined): boolean {
    return leader?.term === this.#latest
  }

  onElected(term: bigint, owner: string): void {
    if (term <= this.#latest) this.fault ??= `term ${term} of ${owner} began after term ${this.#latest}`
    this.#latest = term
    this.#owners.set(term, owner)
  }

  onTransferred(last: bigint, next: bigint): void {
    this.transfers += 1
    if (next <= last) this.fault ??= `term ${last} was transferred as term ${next}`
  }

  onEnded(how: 'lost' | 'resigned'): void {
    this.ends[how] += 1
  }

  /** An observer saw `next` after `last`; `last` is `null` at first. */
  onObserved(last: Leader | undefined | null, lastTerm: bigint, next: Leader | undefined): void {
    this.changes += 1
    if (next === undefined) {
      if (last === undefined) this.fault ??= 'an observer saw the same vacancy twice'
      return
    }
    // Garbled answers can show a leader without its metadata, and then with them.
    const isChanged = next.term === lastTerm && last !== undefined && hasOwnerIn(last) !== hasOwnerIn(next)
    if (next.term <= lastTerm && !isChanged) this.fault ??= `an observer saw term ${next.term} after term ${lastTerm}`
    const owner = this.#owners.get(next.term) ?? next.owner
    if (next.owner !== owner) this.fault ??= `an observer saw ${next.owner} in term ${next.term} of ${owner}`
    if (next.metadata.of !== undefined && next.metadata.of !== next.owner)
      this.fault ??= `an observer saw ${next.owner} with the metadata of another`
  }
}

function hasOwnerIn(leader: Leader | undefined | null): boolean {
  return leader?.metadata.of !== undefined
}
