/** What one server said, or what kept it from saying anything. */
export type Vote<T> = { readonly value: T } | { readonly error: unknown }

/** The votes on one question, as they come in. Of an odd number of servers, what half of them cannot do the others can. */
export class Tally<T> {
  readonly size: number
  /** By the place of the server; `undefined` where it has not answered yet. */
  readonly votes: (Vote<T> | undefined)[]
  /** A majority has answered, and all others that may be expected to were given time to. */
  isLate = false

  constructor(size: number) {
    this.size = size
    this.votes = Array.from({ length: size }, () => undefined)
  }

  get majority(): number {
    return majorityOf(this.size)
  }

  /** All servers have answered, or failed to. */
  get isFinal(): boolean {
    return !this.votes.includes(undefined)
  }

  get values(): T[] {
    return this.votes.flatMap((vote) => (vote !== undefined && 'value' in vote ? [vote.value] : []))
  }

  get errors(): unknown[] {
    return this.votes.flatMap((vote) => (vote !== undefined && 'error' in vote ? [vote.error] : []))
  }
}

export function majorityOf(size: number): number {
  return Math.floor(size / 2) + 1
}
