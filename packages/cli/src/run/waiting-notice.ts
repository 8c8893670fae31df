import { type Clock, LeaseError, type LeaseRecord } from '@leasehold/core'
import { durationText } from '../duration-text.js'
import type { Notices } from './notices.js'
import type { QueuePlace } from './queue-place.js'

/** How often the progress is shown on a terminal, in milliseconds. */
const ON_TERMINAL = 1_000

/**
 * Without a terminal: the time before the first line, also after a change of the cause, in milliseconds. The time between
 * lines grows, so that a long wait takes few lines of a log.
 */
const FIRST_LINE = 2_000
const GROWTH = 3
const LONGEST_INTERVAL = 600_000

/** The time before the first look at the queue, in milliseconds: a shorter wait asks the store for nothing more. */
const LOOK_AFTER = 1_000

/** Why a claim waits. */
type Cause = 'unanswered' | 'held' | 'queued' | 'failing'

/** Shows why a long wait lasts: who holds the lease, since when, and the place in the queue, or how the store fails. */
export class WaitingNotice {
  readonly #name: string
  readonly #notices: Notices
  readonly #clock: Clock
  readonly #place: QueuePlace
  #cause: Cause = 'unanswered'
  #details = 'the store has not answered yet'
  #startedAt = 0
  #interval = 0
  #hasShown = false
  #isWaiting = false
  #cancel: (() => void) | undefined
  #cancelLook: (() => void) | undefined

  constructor(name: string, notices: Notices, clock: Clock, place: QueuePlace) {
    this.#name = name
    this.#notices = notices
    this.#clock = clock
    this.#place = place
  }

  /** Whether it shows why the claim waits, so that nothing else need say it. */
  get isActive(): boolean {
    return this.#isWaiting && this.#notices.showsProgress
  }

  begin(): void {
    this.#isWaiting = true
    this.#hasShown = false
    this.#startedAt = this.#clock.now()
    this.#cancelLook = this.#clock.schedule(LOOK_AFTER, () => this.#place.look())
    this.#restart()
  }

  end(): void {
    this.#isWaiting = false
    this.#cancel?.()
    this.#cancelLook?.()
    this.#place.leave()
    this.#notices.clear()
  }

  /** Another owner holds the name; `undefined`: it is free, but it is another waiter's turn. */
  refused(holder: LeaseRecord | undefined): void {
    // The slots of permits, and other names that a recipe uses, have queues of their own.
    if (holder?.name === this.#name) this.#place.refused()
    if (holder === undefined || holder.owner === '') this.#note('queued', 'another waiter is first')
    else this.#note('held', holderText(holder))
  }

  /** A claim had no answer. */
  failed(error: unknown): void {
    this.#place.leave()
    const reason = error instanceof LeaseError ? error.message : String(error)
    this.#note('failing', `the store cannot be used: ${reason.trim()}`)
  }

  #note(cause: Cause, details: string): void {
    const isNews = cause !== this.#cause
    this.#cause = cause
    this.#details = details
    // On a terminal, the next progress comes within a second.
    if (isNews && this.#isWaiting && this.#hasShown && !this.#notices.isTerminal) this.#restart()
  }

  #restart(): void {
    this.#cancel?.()
    this.#interval = this.#notices.isTerminal ? ON_TERMINAL : FIRST_LINE
    this.#cancel = this.#clock.schedule(this.#interval, () => this.#show())
  }

  #show(): void {
    this.#hasShown = true
    // Whole seconds, so that the line does not jump.
    const waited = durationText(Math.round((this.#clock.now() - this.#startedAt) / 1_000) * 1_000)
    this.#notices.progress(`waiting for '${this.#name}' for ${waited}${this.#place.shown}; ${this.#details}`)
    this.#place.look()
    if (!this.#notices.isTerminal) this.#interval = Math.min(this.#interval * GROWTH, LONGEST_INTERVAL)
    this.#cancel = this.#clock.schedule(this.#interval, () => this.#show())
  }
}

function holderText({ owner, state, grantedAt }: LeaseRecord): string {
  return `${owner} ${state === 'breaking' ? 'is losing it, and held it' : 'holds it'}${sinceText(grantedAt)}`
}

/** Empty for an instant that no date can show: a record may have been written by anybody. */
function sinceText(instant: number | undefined): string {
  const date = new Date(instant ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? '' : ` since ${date.toISOString()}`
}
