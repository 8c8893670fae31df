import { type Lease, type LeaseLost, LeaseLostError } from '@leasehold/core'
import { guardRandom } from '@leasehold/core/internal'
import { ActorTimer, type TimerListener } from './actor-timer.js'
import { Attempt, type AttemptListener } from './attempt.js'
import { Drain } from './drain.js'
import type { GuardedPlan } from './lease-guarded-options.js'
import { isWorthRetry, settingsOf, supplyLease } from './lease-of-actor.js'
import { report } from './report.js'

/** Default for a lease without this setting, in milliseconds. */
const RETRY_INTERVAL = 5_000

/** The random part of the interval. It spreads the retries of challengers that were refused at the same time. */
const JITTER = 0.2

/** The actor of a claim. It is also notified of a lease that could not be made, and of the time for the next step. */
export interface Claimant extends AttemptListener, TimerListener {
  readonly plan: GuardedPlan
  readonly input: unknown
}

/** The claim of one guarded actor on its lease: makes the lease, attempts to acquire it, and releases it at the end. */
export class Claim {
  readonly #actor: Claimant
  /** `making`: the lease is being made, which can take a promise. */
  #phase: 'begun' | 'making' | 'over' = 'begun'
  #lease: Lease | undefined
  #attempt: Attempt | undefined
  #timer: ActorTimer | undefined
  /** Created when it is needed. */
  #release: Release | undefined

  constructor(actor: Claimant) {
    this.#actor = actor
  }

  get lease(): Lease | undefined {
    return this.#lease
  }

  get isHeld(): boolean {
    return this.#attempt?.isHeld === true
  }

  /** Rethrows errors of `checkLease`. */
  get isValid(): boolean {
    return this.#lease?.checkLease() === true
  }

  /** Attempts to acquire the lease, which is made first if it does not exist. Does nothing while an attempt is under way. */
  begin(wait: number): void {
    if (this.#attempt !== undefined || this.#phase === 'over') return
    const lease = this.#lease
    if (lease === undefined) {
      this.#makeLease(wait)
      return
    }
    const drained = Drain.endOf(lease)
    if (drained !== undefined) {
      void drained.then(() => this.#actor.onTimeUp())
      return
    }
    const { metadata } = this.#actor.plan
    this.#attempt = new Attempt(lease, this.#actor)
    this.#attempt.begin(metadata === undefined ? { wait } : { wait, metadata })
  }

  /** The attempt was refused, or its grant was lost. */
  drop(): void {
    this.#attempt = undefined
  }

  /** Notifies the listener after `retryInterval`. */
  retryLater(): void {
    const { plan, scope } = this.#actor
    const random = guardRandom(plan.random, (error) => report(scope, 'random() failed', error))
    const interval = plan.retryInterval ?? settingsOf(this.#lease).retryInterval ?? RETRY_INTERVAL
    this.#timer ??= new ActorTimer(this.#actor)
    // Whole milliseconds, because Node keeps one list per timer duration.
    this.#timer.arm(Math.ceil(interval * (1 - JITTER * random())))
  }

  cancelRetry(): void {
    this.#timer?.disarm()
  }

  /** Ends the claim. `ready` calls back when the lease may be released. */
  end(ready: (release: () => void) => void): void {
    this.#phase = 'over'
    this.cancelRetry()
    const { done } = this.#ensureRelease()
    const attempt = this.#attempt
    ready(() => (attempt === undefined ? done() : attempt.end(done)))
  }

  /** Resolves when the claim has ended and nothing is left to release. */
  whenReleased(): Promise<void> {
    return this.#ensureRelease().ended
  }

  lossOf(lost: LeaseLost = { reason: 'expired' }): LeaseLostError {
    const { name, owner } = settingsOf(this.#lease)
    const { reason, cause } = lost
    return new LeaseLostError(`lease '${name}' was lost: ${reason}`, { leaseName: name, owner, reason, cause })
  }

  #makeLease(wait: number): void {
    if (this.#phase !== 'begun') return
    this.#phase = 'making'
    const { plan, input, scope } = this.#actor
    const made = (lease: Lease): void => {
      this.#lease = lease
      this.begin(wait)
    }
    const failed = (error: unknown): void => {
      if (this.#phase === 'making') this.#phase = 'begun'
      // Rethrown, the error would end the actor at once, and stashed messages would be lost without `onDropped`.
      this.#actor.notify(isWorthRetry(plan.lease, error) ? 'lease.refused' : 'lease.failed', { error })
    }
    supplyLease(plan.lease, { input, self: scope.self }, made, failed)
  }

  #ensureRelease(): Release {
    this.#release ??= new Release()
    return this.#release
  }
}

/** The end of a release. */
class Release {
  done = (): void => {}
  readonly ended = new Promise<void>((resolve) => {
    this.done = resolve
  })
}
