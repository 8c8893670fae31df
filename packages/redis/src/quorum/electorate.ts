import { AbortListeners, type Clock } from '@leasehold/core'
import { type Ballot, Poll } from './poll.js'
import type { QuorumMember } from './quorum-member.js'
import { majorityOf } from './tally.js'

/**
 * The servers, all asked at once. A question is settled as soon as its votes decide it: nobody waits for a server that
 * is slow, frozen or dead. Those that were not waited for get a moment to do it as well.
 */
export class Electorate {
  readonly members: readonly QuorumMember[]
  readonly majority: number
  readonly #clock: Clock
  readonly #aborts = new AbortListeners()
  /** Those that do not answer at all: they are not waited for until they do. */
  readonly #lagging = new Set<QuorumMember>()

  constructor(members: readonly QuorumMember[], clock: Clock) {
    this.members = members
    this.majority = majorityOf(members.length)
    this.#clock = clock
  }

  /** Rejects with the signal's reason when it aborts; servers are then asked no longer. */
  poll<T, R>(ballot: Ballot<T, R>, signal: AbortSignal): Promise<R> {
    if (signal.aborted) return Promise.reject(signal.reason)
    return new Promise<R>((resolve, reject) => {
      const unlisten = this.#aborts.add(signal, () => poll.giveUp(signal.reason))
      const poll = new Poll(this.members, this.#lagging, this.#clock, ballot, {
        resolve: (decision) => {
          unlisten()
          resolve(decision)
        },
        reject: (error) => {
          unlisten()
          reject(error)
        },
      })
      poll.begin()
    })
  }

  /** Rejects with the signal's reason when it aborts. */
  pause(duration: number, signal: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const cancel = this.#clock.schedule(duration, () => {
        unlisten()
        resolve()
      })
      const unlisten = this.#aborts.add(signal, () => {
        cancel()
        reject(signal.reason)
      })
    })
  }
}
