import type { LeaseSettings } from '../settings/lease-settings.js'
import { keptAlive } from '../time/keep-alive.js'
import { systemClock } from '../time/system-clock.js'
import { type AcquireOptions, acquireOptionsError } from './acquire-options.js'
import { type Health, health, healthFrom, leaseAilment } from './health.js'
import type { Held } from './held.js'
import { ObservedGrants } from './observed-grants.js'

/**
 * One claim, by one owner, on one name. Extend it for a backend that brings its own heartbeat; implement
 * `LeaseStore` and use `StoreLease` where the backend only stores records.
 *
 * The contract is that of Akka's and Pekko's `Lease` (`coordination/.../scaladsl/Lease.scala`).
 */
export abstract class Lease implements AsyncDisposable {
  readonly settings: LeaseSettings
  #grants: ObservedGrants | undefined

  protected constructor(settings: LeaseSettings) {
    this.settings = settings
  }

  /**
   * Resolves `true`: held now. `false`: certainly not held, someone else has it. Rejects with a typed error when the
   * outcome is unknown. Acquiring what this instance already holds is `true`; concurrent calls share one attempt.
   */
  abstract acquire(options?: AcquireOptions): Promise<boolean>

  /**
   * Resolves `true`: this owner's claim is gone, or there was none. `false`: someone else holds the name, and nothing
   * of theirs was touched. Rejects when it cannot know. It never frees another's grant.
   */
  abstract release(): Promise<boolean>

  /**
   * Whether the holder may act now. Synchronous, without I/O: it compares clocks, so that the answer is correct even after
   * a blocked event loop, a pause or a suspend, before any timer has run.
   */
  abstract checkLease(): boolean

  /**
   * The number that the guarded resource compares: strictly larger for every later grant of the same name. `undefined`
   * while not held, or where the backend has none.
   */
  get fencingToken(): bigint | undefined {
    return undefined
  }

  /**
   * When the validity ends unless a heartbeat renews it, in milliseconds on the lease's clock; 0 while not held. `undefined`
   * where the backend does not say.
   */
  get validUntil(): number | undefined {
    return undefined
  }

  /**
   * Aborted when the current grant is lost, with a `LeaseLostError`; not by a release. While nothing is held: a signal
   * that is aborted already.
   */
  get signal(): AbortSignal {
    return this.#observed.signal
  }

  /**
   * Acquires the lease, does the work and releases. Runs of one object never overlap: a run waits for its turn, first come,
   * first served, and that time counts towards `wait`. If the lease is held already by an `acquire()` of this object, the
   * work runs under that grant, and the lease stays held.
   *
   * Rejects with a `LeaseHeldError` if another owner holds the name, or another run of this object is in progress, for
   * longer than `wait`; its `holder` is that owner, where it is known. Rejects with a `LeaseConflictError` if it is called
   * inside its own work. Rejects at once with a `LeaseLostError` when the grant ends, even if the work ignores its signal;
   * the reason is `released` after a `release()` during the run. Otherwise it settles as the work does. A failed release at
   * the end is reported and does not change the outcome. Without a function, it rejects with a `LeaseConfigurationError`
   * before it acquires.
   *
   * It uses `acquire`, `checkLease` and `release` only, so a subclass has it without writing it.
   */
  async run<T>(work: (held: Held) => Promise<T>, options: AcquireOptions = {}): Promise<T> {
    const error = acquireOptionsError(options, anyStore, { leaseName: this.settings.name, owner: this.settings.owner })
    if (error !== undefined) throw error
    return await keptAlive(systemClock, this.#observed.runs.run(this, work, options), options.keepAlive)
  }

  /** Made when first used. A lease over a store knows its grants and does not need it. */
  get #observed(): ObservedGrants {
    this.#grants ??= new ObservedGrants(this)
    return this.#grants
  }

  /** See `healthOf`. */
  [health](): Health {
    const [isValid, { name }] = [this.checkLease(), this.settings]
    const overdue = this.#grants?.overdue ?? 0
    return healthFrom(leaseAilment({ name, isHeld: isValid, isValid, overdue }), { name, isValid })
  }

  /** Releases the lease at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }
}

/** The backend decides how much metadata it has room for, whether its resources have versions, and whether it can break. */
const anyStore = { limits: { metadata: Number.POSITIVE_INFINITY, versions: true }, break: true }
