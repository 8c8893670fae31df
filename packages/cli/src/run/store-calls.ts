import type { Clock, LeaseStore } from '@leasehold/core'
import { type GrantKeeper, grantKeeper } from '@leasehold/core/internal'
import { AbortableCall, viewOf } from '@leasehold/core/store'
import { pause } from '@leasehold/core/store-kit'
import type { WaitingNotice } from './waiting-notice.js'

/** The pause between two looks, in milliseconds. */
const PAUSE = 5

/** Counts the calls of leases to a store, some of which a signal may leave under way. Tells `listener` how claims end. */
export class StoreCalls {
  /** The same store, for the leases. */
  readonly store: LeaseStore
  readonly #clock: Clock
  #underWay = 0
  #started = 0

  constructor(
    store: LeaseStore & { readonly [grantKeeper]?: GrantKeeper },
    clock: Clock,
    listener: Pick<WaitingNotice, 'refused' | 'failed'>,
  ) {
    this.#clock = clock
    const counted =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A) =>
        this.#during(call(...args))
    const view = viewOf(store, {
      acquire: (acquire) => async (request, call) => {
        const outcome = await this.#during(acquire(request, call)).catch((error: unknown) => {
          listener.failed(error)
          throw error
        })
        if (!outcome.granted) listener.refused(outcome.holder)
        return outcome
      },
      release: counted,
      read: counted,
      withdraw: counted,
    })
    const keeper = store[grantKeeper]
    this.store = keeper === undefined ? view : Object.assign(view, { [grantKeeper]: keeper })
  }

  /**
   * Resolves when no call is under way and none follows, or when the time limit, in milliseconds, is over. A signal ends a
   * claim at once: the store may grant it later, and the grant then has to be given back.
   */
  async ended(limit: number): Promise<void> {
    const start = this.#clock.now()
    for (
      let seen = -1;
      this.#underWay > 0 || this.#started > seen;
      await pause(this.#clock, PAUSE, new AbortableCall())
    ) {
      seen = this.#started
      if (this.#clock.now() - start >= limit) return
    }
  }

  async #during<T>(answer: Promise<T>): Promise<T> {
    this.#underWay += 1
    this.#started += 1
    try {
      return await answer
    } finally {
      this.#underWay -= 1
    }
  }
}
