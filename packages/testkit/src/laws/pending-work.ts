import assert from 'node:assert/strict'

/** One call of a work, which lasts until the law ends it. */
export interface PendingCall<Given extends readonly unknown[]> {
  readonly given: Given
  end(): void
  fail(error: Error): void
}

/** Work of which each call lasts until the law ends it. */
export class PendingWork<Given extends readonly unknown[]> {
  /** The calls so far, in the order in which they began. */
  readonly calls: PendingCall<Given>[] = []
  #begin = (_: PendingCall<Given>): void => {}
  /** The first call, when it has begun. */
  readonly begun = new Promise<PendingCall<Given>>((resolve) => {
    this.#begin = resolve
  })

  readonly run = (...given: Given): Promise<void> =>
    new Promise((end, fail) => {
      const call = { given, end, fail }
      this.calls.push(call)
      this.#begin(call)
    })

  /** The only call so far. */
  get only(): PendingCall<Given> {
    const [call] = this.calls
    assert(call !== undefined && this.calls.length === 1, `${this.calls.length} works instead of one`)
    return call
  }
}
