import assert from 'node:assert/strict'

/** One call of a work. */
export interface PendingCall<Held> {
  /** The value that it was called with. */
  readonly held: Held
  end(): void
  fail(error: Error): void
}

/** Work under a lease; each call of it lasts until the law ends that call. */
export class PendingWork<Held> {
  /** The calls so far, in the order in which they began. */
  readonly calls: PendingCall<Held>[] = []
  #begin = (_: PendingCall<Held>): void => {}
  /** The first call, when it has begun. */
  readonly begun = new Promise<PendingCall<Held>>((resolve) => {
    this.#begin = resolve
  })

  readonly run = (held: Held): Promise<void> =>
    new Promise((end, fail) => {
      const call = { held, end, fail }
      this.calls.push(call)
      this.#begin(call)
    })

  /** The only call so far. */
  get only(): PendingCall<Held> {
    const [call] = this.calls
    assert(call !== undefined && this.calls.length === 1, `${this.calls.length} works instead of one`)
    return call
  }
}
