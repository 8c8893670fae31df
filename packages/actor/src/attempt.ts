import { type AcquireOptions, type Lease, type LeaseLost, LeaseUnavailableError } from '@leasehold/core'
import { shownValue } from '@leasehold/core/internal'
import type { ControlDetails, ControlType } from './control-event.js'
import { settingsOf } from './lease-of-actor.js'

/** The actor of an attempt. */
export interface AttemptListener {
  /**
   * Sends it `lease.granted` or `lease.refused`, once for each attempt. `error` is set if the outcome is unknown, and absent
   * if the lease was certainly not granted.
   */
  notify(type: ControlType, details?: ControlDetails): void
  /** Called synchronously and at most once; so is `onReleaseFailed`. */
  onLost(lost: LeaseLost): void
  onReleaseFailed(error: unknown): void
}

type Phase = 'pending' | 'held' | 'over'

/**
 * One call of `acquire` and its grant. Each attempt records its own loss, because `onLost` can be called before the promise
 * of `acquire` resolves, and must not be mistaken for the loss of a later grant.
 */
export class Attempt {
  readonly #lease: Lease
  readonly #listener: AttemptListener
  #phase: Phase = 'pending'
  #lost: LeaseLost | undefined
  #controller: AbortController | undefined
  #whenReleased: (() => void) | undefined

  constructor(lease: Lease, listener: AttemptListener) {
    this.#lease = lease
    this.#listener = listener
  }

  get isHeld(): boolean {
    return this.#phase === 'held'
  }

  begin(options: Pick<AcquireOptions, 'wait' | 'metadata'>): void {
    settle(
      () => this.#acquire(options),
      (granted) => this.#settle(granted),
      (error) => this.#refuse(error ?? this.#unknown(`acquire failed with ${error}, expected an error`)),
    )
  }

  /**
   * Ends the attempt: aborts a pending call, and releases a grant that is held or arrives later. Calls back when the release
   * has ended, or when there is nothing to release.
   */
  end(released: () => void): void {
    const phase = this.#phase
    this.#phase = 'over'
    if (phase === 'over') {
      released()
      return
    }
    this.#whenReleased = released
    if (phase === 'pending') this.#controller?.abort()
    else this.#release()
  }

  #acquire(options: Pick<AcquireOptions, 'wait' | 'metadata'>): Promise<boolean> {
    const attempt = this
    return this.#lease.acquire({
      ...options,
      onLost: (lost) => this.#lose(checkedLoss(lost)),
      // A getter, because a signal takes more memory than the rest of the attempt. Some leases never read it.
      get signal() {
        return attempt.#signal
      },
    })
  }

  get #signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  #settle(granted: unknown): void {
    if (granted === false) {
      this.#refuse()
      return
    }
    if (granted !== true) {
      // The lease may be held. As after any unknown outcome, it is released.
      this.#release()
      if (this.#phase === 'pending')
        this.#refuse(this.#unknown(`acquire resolved with ${shownValue(granted)}, expected true or false`))
      return
    }
    const wanted = this.#phase === 'pending'
    this.#phase = wanted && this.#lost === undefined ? 'held' : 'over'
    if (this.#lost === undefined) {
      if (wanted) this.#listener.notify('lease.granted')
      else this.#release()
    } else if (wanted) this.#listener.onLost(this.#lost)
    else this.#whenReleased?.()
  }

  #refuse(error?: unknown): void {
    const wanted = this.#phase === 'pending'
    this.#phase = 'over'
    if (wanted) this.#listener.notify('lease.refused', { error })
    else this.#whenReleased?.()
  }

  #lose(lost: LeaseLost): void {
    this.#lost ??= lost
    if (this.#phase !== 'held') return
    this.#phase = 'over'
    this.#listener.onLost(lost)
  }

  #release(): void {
    const failed = (error: unknown): void => {
      this.#listener.onReleaseFailed(error)
      this.#whenReleased?.()
    }
    const ended = (released: unknown): void => {
      if (typeof released === 'boolean') this.#whenReleased?.()
      else failed(this.#unknown(`release resolved with ${shownValue(released)}, expected true or false`))
    }
    settle(() => this.#lease.release(), ended, failed)
  }

  #unknown(problem: string): LeaseUnavailableError {
    const { name, owner } = settingsOf(this.#lease)
    return new LeaseUnavailableError(`lease '${name}': ${problem}; it is unknown whether the lease is held`, {
      leaseName: name,
      owner,
    })
  }
}

/** Calls a lease. A custom thenable could call back twice, or before `then` returns; a promise cannot. */
function settle(call: () => unknown, settled: (value: unknown) => void, failed: (error: unknown) => void): void {
  try {
    Promise.resolve(call()).then(settled, failed)
  } catch (error) {
    failed(error)
  }
}

/** The worker must stop on every loss, even if a custom lease passes an invalid loss. */
function checkedLoss(lost: unknown): LeaseLost {
  try {
    if (typeof (lost as LeaseLost).reason === 'string') return lost as LeaseLost
  } catch {
    // `lost` is not an object, or its getter throws.
  }
  return { reason: 'expired', cause: lost }
}
