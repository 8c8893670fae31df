import type { LeaseLost, LeaseLostError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'

/** The work of one term. The term is over when the promise has settled. */
export type TermWork = (term: bigint, signal: AbortSignal) => unknown

/** One period of leadership in this process: from the grant until the work has ended and the lease is given up. */
export class Term {
  readonly number: bigint
  /** How the lease was lost; `undefined` while it is held, and after a release. */
  lost: LeaseLost | undefined
  readonly #ending = new AbortableCall()

  constructor(number: bigint) {
    this.number = number
  }

  /**
   * Does the work. Resolves when it has ended, with the error that is to be reported, if there is one. Without any work, the
   * term lasts until its end is asked for.
   */
  async carryOut(
    work: TermWork = () => new Promise<void>((resolve) => this.#ending.onAbort(resolve)),
  ): Promise<unknown> {
    const { signal } = this.#ending
    // Resigned or lost before the work began.
    if (signal.aborted) return undefined
    try {
      await work(this.number, signal)
      return undefined
    } catch (error) {
      // Work that was aborted may reject with the reason of its signal, or with an error of a call that it aborted.
      return signal.aborted && (error === signal.reason || isAbortError(error)) ? undefined : error
    }
  }

  /** Asks the work to end. The lease stays held. */
  end(reason: LeaseLostError): void {
    this.#ending.abort(reason)
  }
}

function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
