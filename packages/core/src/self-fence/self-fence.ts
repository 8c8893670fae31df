import type { Clock } from '../clock.js'
import { detailsOf } from '../engine/failures.js'
import type { LeaseRules } from '../engine/lease-rules.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import type { LeaseSettings } from '../lease-settings.js'
import { reasonOf } from '../shown-value.js'
import { systemClock } from '../system-clock.js'
import type { Deadline } from './deadlines.js'
import { acknowledgeTime, type SelfFenceMode } from './fence-times.js'
import { type DeadlineKeeper, Watchdog } from './watchdog.js'

const watchdog = new Watchdog()

/** Ends the process if it does not acknowledge the loss of a grant of one lease in time. */
export abstract class Fence {
  protected readonly rules: LeaseRules
  /** How long after the end of its validity a loss has to be acknowledged, in milliseconds. */
  protected readonly time: number
  readonly #mode: SelfFenceMode
  #abandoned = 0

  constructor(mode: SelfFenceMode, rules: LeaseRules) {
    this.rules = rules
    this.time = acknowledgeTime(rules.ttl)
    this.#mode = mode
  }

  /** The outcome of a claim that has to wait until the thread runs; `undefined` if it can go on. */
  abstract enter(claim: () => Promise<boolean>): Promise<boolean> | undefined
  /** A grant was obtained or renewed. `validUntil` is on the system clock. */
  abstract arm(validUntil: number): void
  /** The grant was left: released, or handed off. */
  abstract disarm(): void
  /**
   * The loss of the grant was reported: the signal is aborted, and the callbacks have returned. It is acknowledged when the
   * work of the run under the grant has ended.
   */
  abstract acknowledge(work: Promise<void> | undefined): void

  /** Makes the claims that wait for the thread resolve with false. */
  abandon(): void {
    this.#abandoned += 1
  }

  /** Rejects with a `LeaseUnavailableError` if the thread cannot be started. */
  protected async claimAfter(starting: Promise<void>, claim: () => Promise<boolean>): Promise<boolean> {
    const abandoned = this.#abandoned
    try {
      await starting
    } catch (cause) {
      const message = `the thread of selfFence could not be started: ${reasonOf(cause)}`
      throw new LeaseUnavailableError(message, { ...detailsOf(this.rules), cause })
    }
    return abandoned === this.#abandoned && (await claim())
  }

  /** When to ask the process to end that is to be killed at an instant; `Infinity` where it is not asked. */
  protected askAtFor(killAt: number): number {
    return this.#mode === 'exit' ? killAt - this.time / 2 : Number.POSITIVE_INFINITY
  }
}

/** The fence of a lease whose engine runs in this thread. */
export class SelfFence extends Fence {
  readonly #onEnded: () => void
  readonly #keeper: DeadlineKeeper
  #deadline: Deadline | undefined
  #killAt = Number.POSITIVE_INFINITY

  /** The fence of a lease, if its settings ask for one. See the constructor. */
  static of(
    { selfFence }: LeaseSettings,
    rules: LeaseRules,
    clock: Clock,
    onEnded: () => void,
    keeper: DeadlineKeeper = watchdog,
  ): SelfFence | undefined {
    return selfFence === undefined ? undefined : new SelfFence(selfFence, rules, clock, onEnded, keeper)
  }

  /**
   * `onEnded`: the thread that ends the process has ended by itself. Throws a `LeaseConfigurationError` where the process
   * cannot be ended.
   */
  constructor(mode: SelfFenceMode, rules: LeaseRules, clock: Clock, onEnded: () => void, keeper: DeadlineKeeper) {
    super(mode, rules)
    this.#keeper = keeper
    this.#onEnded = onEnded
    if (clock !== systemClock) {
      const message = "selfFence ends the process by the machine's clock: leave it out, or leave out the clock"
      throw new LeaseConfigurationError(message, detailsOf(rules))
    }
    // The kernel ignores signals that the first process of a container sends to itself, SIGKILL included.
    if (process.pid === 1 && process.platform !== 'win32') {
      throw new LeaseConfigurationError(
        'selfFence cannot end this process, because its id is 1, as that of the first process in a container: start it ' +
          'by an init process (docker run --init, or tini), or leave selfFence out',
        detailsOf(rules),
      )
    }
  }

  /** The place of the deadline that is armed. */
  get place(): number | undefined {
    return this.#deadline?.place
  }

  enter(claim: () => Promise<boolean>): Promise<boolean> | undefined {
    const starting = this.#keeper.start()
    return starting === undefined ? undefined : this.claimAfter(starting, claim)
  }

  arm(validUntil: number): void {
    try {
      this.#deadline ??= this.#keeper.add(this.#onEnded)
    } catch {
      // The thread had ended while the lease waited for its turn, and cannot be started again.
      queueMicrotask(this.#onEnded)
      return
    }
    this.#set(validUntil + this.time)
  }

  disarm(): void {
    this.#deadline?.clear()
    this.#deadline = undefined
  }

  acknowledge(work: Promise<void> | undefined): void {
    const deadline = this.#deadline
    if (deadline === undefined) return
    if (work === undefined) {
      this.disarm()
      return
    }
    this.#set(Math.min(this.#killAt, systemClock.now() + this.time))
    this.#deadline = undefined
    void work.then(() => deadline.clear())
  }

  #set(killAt: number): void {
    this.#killAt = killAt
    this.#deadline?.set(this.askAtFor(killAt), killAt)
  }
}
