import type { Lease, LeaseRecord } from '@leasehold/core'
import { callGuarded } from '@leasehold/core/internal'
import type { AnyEventObject } from 'xstate'
import type { StandbyPolicy } from './lease-guarded-options.js'
import type { Stash } from './stash.js'

/**
 * The time in which an actor knows that it does not hold its lease: from the answer to an attempt until a grant. Before
 * the first answer, messages are stashed, because the actor may be the one that gets the lease.
 */
export class Standby {
  /** From the first answer until a grant. */
  isEntered = false
  readonly #policy: StandbyPolicy
  readonly #log: (message: string, error: unknown) => void
  #holder: LeaseRecord | undefined
  #reading: object | undefined

  constructor(policy: StandbyPolicy, log: (message: string, error: unknown) => void) {
    this.#policy = policy
    this.#log = log
  }

  leave(): void {
    this.isEntered = false
    this.#reading = undefined
    this.#holder = undefined
  }

  /** Reads the holder if the policy needs it, then calls back. If the holder cannot be read, keeps the last one known. */
  update(lease: Lease | undefined, updated: () => void): void {
    if (this.#reading !== undefined) return
    if (typeof this.#policy !== 'function') {
      updated()
      return
    }
    const reading = {}
    this.#reading = reading
    const read = readHolder(lease).catch(() => this.#holder)
    void read.then((holder) => {
      if (this.#reading !== reading) return
      this.#reading = undefined
      this.#holder = holder
      updated()
    })
  }

  handOver(stash: Stash): void {
    for (let event = stash.shift(); event !== undefined; event = stash.shift()) this.hand(event, stash)
  }

  hand(event: AnyEventObject, stash: Stash): void {
    const policy = this.#policy
    if (typeof policy !== 'function') {
      stash.drop(event, 'standby')
      return
    }
    callGuarded(
      () => policy(event, { holder: this.#holder }),
      (error) => {
        this.#log(`whileAcquiring failed for message '${event.type}'`, error)
        stash.drop(event, 'standby')
      },
    )
  }
}

/** A custom lease may have no method `holder`. */
async function readHolder(lease: Lease | undefined): Promise<LeaseRecord | undefined> {
  const { holder } = (lease ?? {}) as { holder?: () => Promise<LeaseRecord | undefined> }
  return typeof holder === 'function' ? await holder.call(lease) : undefined
}
