import type { StoreCall } from '../store/store-call.js'
import { untilAborted } from '../store-kit/until-aborted.js'

/**
 * Takes connections from a pool of the user. A connection that was asked for by a call that is aborted before it comes serves
 * the next call: calls that are given up do not fill the queue of the pool.
 */
export class SpareConnections<C> {
  readonly #open: () => Promise<C>
  readonly #giveBack: (connection: C) => void
  readonly #spare = new Set<Promise<C>>()

  constructor(open: () => Promise<C>, giveBack: (connection: C) => void) {
    this.#open = open
    this.#giveBack = giveBack
  }

  /** Rejects with the reason of the abort as soon as the call is aborted. */
  async take(call: StoreCall): Promise<C> {
    const [connecting = this.#open()] = this.#spare
    this.#spare.delete(connecting)
    try {
      return await untilAborted(connecting, call)
    } catch (error) {
      if (call.aborted) this.#keep(connecting)
      throw error
    }
  }

  #keep(connecting: Promise<C>): void {
    this.#spare.add(connecting)
    const take = (): boolean => this.#spare.delete(connecting)
    connecting.then((connection) => {
      if (take()) this.#giveBack(connection)
    }, take)
  }
}
