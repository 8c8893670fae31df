// #region counter
/** The protected resource: a number in a database that checks the fencing token of each access. */
export class Counter {
  value = 0
  /** How many writes were accepted. */
  accepted = 0
  #largestToken = 0n
  readonly #isGuarded: boolean

  constructor({ guarded = true } = {}) {
    this.#isGuarded = guarded
  }

  /** A read shows the token too: from here on, a write of an earlier holder that is still on its way is refused. */
  read(token: bigint): number {
    this.#admits(token)
    return this.value
  }

  /** Returns `false` after a later holder of the lease has accessed the number. */
  write(value: number, token: bigint): boolean {
    if (!this.#admits(token)) return false
    this.accepted += 1
    this.value = value
    return true
  }

  #admits(token: bigint): boolean {
    if (this.#isGuarded && token < this.#largestToken) return false
    this.#largestToken = token
    return true
  }
}
// #endregion counter
