import type { StoreExperience } from './store-experience.js'

/** A silence that outlasts the validity is assumed to be longer by this factor than what was seen of it. */
const UNSEEN = 1.5

/** Records for the experience of a store what one lease sees, from the grant to its end. Instants in milliseconds. */
export class HeartbeatLearner {
  readonly #experience: StoreExperience
  /** When the last confirmed request was sent. */
  #confirmedAt = 0
  /** When the first heartbeat was sent that failed since then. */
  #failedSince: number | undefined
  /** When the last of them was sent, and how many failed. */
  #failedAt = 0
  #failureEnd = 0
  #failures = 0

  constructor(experience: StoreExperience) {
    this.#experience = experience
  }

  onGranted(sentAt: number): void {
    this.#confirmedAt = sentAt
    this.#forgetFailures()
  }

  /** A heartbeat was sent that was due then. `limit`: for how long an answer is awaited, if the validity lasts. */
  onSent(dueAt: number, sentAt: number, limit: number): void {
    if (this.#failedSince === undefined) this.#experience.lateness.add(Math.max(sentAt - dueAt, 0))
    else {
      // The next pause is twice as long as this one.
      const next = limit + 2 * (sentAt - this.#failureEnd)
      this.#experience.addRepetition(this.#failures, sentAt + next / 2 - this.#failedSince, limit)
    }
  }

  onAnswered(sentAt: number, now: number): void {
    const experience = this.#experience
    experience.addHeld(sentAt - this.#confirmedAt)
    if (this.#failedSince === undefined) experience.addAttempt({ latency: now - sentAt, outcome: 'answered' })
    // The store answered again at some time between the last heartbeat that failed and this one.
    else if (this.#failures > 1) experience.silences.add((this.#failedAt + sentAt) / 2 - this.#failedSince)
    this.#confirmedAt = sentAt
    this.#forgetFailures()
  }

  /** `isSlow`: no answer came within the time limit. Otherwise, an error came. */
  onFailed(sentAt: number, now: number, isSlow: boolean): void {
    if (this.#failedSince === undefined) {
      this.#failedSince = sentAt
      this.#experience.addAttempt({ latency: now - sentAt, outcome: isSlow ? 'slow' : 'failed' })
    }
    this.#failedAt = sentAt
    this.#failureEnd = now
    this.#failures += 1
  }

  /**
   * The validity has ended; `now`: when that was noticed. `dueAt`: when a heartbeat was due that was not sent; `Infinity` if
   * none was.
   */
  onExpired(validUntil: number, dueAt: number, now: number): void {
    this.#experience.addHeld(validUntil - this.#confirmedAt)
    if (this.#failedSince !== undefined) {
      // The store is silent for longer; for how long, no heartbeat will show.
      this.#experience.silences.add(UNSEEN * (validUntil - this.#failedSince))
    } else if (dueAt < validUntil) this.#experience.lateness.add(Math.max(now, validUntil) - dueAt)
    this.#forgetFailures()
  }

  /** The grant has ended otherwise. */
  onEnded(now: number): void {
    this.#experience.addHeld(now - this.#confirmedAt)
    this.#forgetFailures()
  }

  #forgetFailures(): void {
    this.#failedSince = undefined
    this.#failures = 0
  }
}
