import { type Clock, LeaseError, type LeaseRecord } from '@leasehold/core'
import { durationText } from '../duration-text.js'
import type { Notices } from './notices.js'
import type { ClaimListener } from './observed-store.js'
import type { QueuePlace } from './queue-place.js'

/** How often the progress is shown, in milliseconds: on a terminal, and elsewhere. */
const ON_TERMINAL = 1_000
const ELSEWHERE = 60_000

/** The first look at the queue, in milliseconds: a shorter wait asks the store for nothing more. */
const LOOK_AFTER = 1_000

/** Shows, during a long wait, who holds the lease, since when, and the place in the queue. */
export class WaitingNotice implements ClaimListener {
  readonly #name: string
  readonly #notices: Notices
  readonly #clock: Clock
  readonly #place: QueuePlace
  #state: string | undefined
  #cancel: (() => void) | undefined
  #cancelLook: (() => void) | undefined

  constructor(name: string, notices: Notices, clock: Clock, place: QueuePlace) {
    this.#name = name
    this.#notices = notices
    this.#clock = clock
    this.#place = place
  }

  begin(): void {
    const startedAt = this.#clock.now()
    const interval = this.#notices.isTerminal ? ON_TERMINAL : ELSEWHERE
    const show = (): void => {
      // Whole seconds, so that the line does not jump.
      const waited = durationText(Math.round((this.#clock.now() - startedAt) / 1_000) * 1_000)
      const state = this.#state === undefined ? '' : `; ${this.#state}`
      this.#notices.progress(`waiting for '${this.#name}' for ${waited}${this.#place.shown}${state}`)
      this.#place.look()
      this.#cancel = this.#clock.schedule(interval, show)
    }
    this.#cancelLook = this.#clock.schedule(LOOK_AFTER, () => this.#place.look())
    this.#cancel = this.#clock.schedule(interval, show)
  }

  end(): void {
    this.#cancel?.()
    this.#cancelLook?.()
    this.#place.leave()
    this.#notices.clear()
  }

  refused(holder: LeaseRecord | undefined): void {
    // The slots of permits, and other names that a recipe uses, have queues of their own.
    if (holder?.name === this.#name) this.#place.refused()
    this.#state = holder === undefined || holder.owner === '' ? 'another waiter is first' : stateOf(holder)
  }

  failed(error: unknown): void {
    this.#place.leave()
    this.#state = error instanceof LeaseError ? error.message : `the store failed: ${String(error)}`
  }
}

function stateOf({ owner, state, grantedAt }: LeaseRecord): string {
  const since = grantedAt === undefined ? '' : ` since ${new Date(grantedAt).toISOString()}`
  return `${owner} ${state === 'breaking' ? 'is losing it, and held it' : 'holds it'}${since}`
}
