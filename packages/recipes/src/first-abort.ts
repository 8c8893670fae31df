import { AbortableCall } from '@leasehold/core/store'
import { AbortListeners } from '@leasehold/core/store-kit'

/** One for all recipes: an application may pass the same signal to many of them. */
export const aborts = new AbortListeners()

/**
 * Aborted with the first of these signals, until `forget` is called. `AbortSignal.any` would leave something behind at
 * every call on a signal that is never aborted.
 */
export class FirstAbort extends AbortableCall {
  readonly #removals: readonly ((() => void) | undefined)[]

  constructor(...signals: readonly (AbortSignal | undefined)[]) {
    super()
    this.#removals = signals.map((signal) => signal && aborts.add(signal, () => this.abort(signal.reason)))
  }

  forget(): void {
    for (const remove of this.#removals) remove?.()
  }
}
