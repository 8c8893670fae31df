import type { LeaseLost, LeaseLostError, LeaseLostReason, StoreHeld } from '@leasehold/core'
import { extendHeld } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { recipePublishers } from '../recipe-channels.js'

/** One period of leadership, as its work gets it. Until the work has ended, the lease is held, unless it was lost. */
export interface Term extends StoreHeld {
  /** The number of the term: its fencing token. */
  readonly term: bigint
}

/** The work of one term. The term is over when the promise has settled. */
export type TermWork = (term: Term) => unknown

/** One term in this process: from the grant until the work has ended and the lease is given up. */
export class TermRun {
  readonly number: bigint
  /** How the lease was lost; `undefined` while it is held, and after a release. */
  lost: LeaseLost | undefined
  readonly #held: StoreHeld
  readonly #ending = new AbortableCall()

  constructor(held: StoreHeld) {
    this.number = held.fencingToken
    this.#held = held
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
      await work(extendHeld(this.#held, { signal, term: this.number }))
      return undefined
    } catch (error) {
      // Work that was aborted may reject with the reason of its signal, or with an error of a call that it aborted.
      const isOfAbort = error === signal.reason || (error instanceof Error && error.name === 'AbortError')
      return signal.aborted && isOfAbort ? undefined : error
    }
  }

  /** Asks the work to end. The lease stays held. */
  end(reason: LeaseLostError): void {
    this.#ending.abort(reason)
  }
}

/** The election of a term. */
interface Election {
  readonly name: string
  readonly owner: string
}

/** Publishes that a term has begun, if anyone listens. */
export function publishElected({ name: election, owner }: Election, term: bigint): void {
  const { elected } = recipePublishers
  if (elected.isOn) elected.publish({ election, owner, term })
}

/** Publishes that a term is over, if anyone listens. `lost`: how its lease was lost. */
export function publishResigned(
  { name: election, owner }: Election,
  term: bigint,
  lost: LeaseLostReason | undefined,
): void {
  const { resigned } = recipePublishers
  if (resigned.isOn) resigned.publish({ election, owner, term, lost })
}
