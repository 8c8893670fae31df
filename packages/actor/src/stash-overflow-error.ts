/** What a guarded actor ends with when a message comes to a full stash and the policy is `fail`. */
export class StashOverflowError extends Error {
  override readonly name = 'StashOverflowError'
  /** How many messages the stash may hold. */
  readonly capacity: number

  constructor(capacity: number, type: string) {
    super(
      `no room for message '${type}': ${capacity} messages are stashed; raise stash.capacity, or choose an overflow`,
    )
    this.capacity = capacity
  }
}
