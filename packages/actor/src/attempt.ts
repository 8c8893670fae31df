import { type Lease, type LeaseLost, LeaseUnavailableError } from '@leasehold/core'
import { describe, settingsOf } from './lease-of-actor.js'

/** Who is told, synchronously, what becomes of an attempt; of each thing at most once. */
export interface AttemptListener {
  onGranted(): void
  /** `error` where the lease could not know; absent where it was certainly not granted. */
  onRefused(error?: unknown): void
  onLost(lost: LeaseLost): void
  /** What went wrong after the listener had lost interest. */
  onReleaseFailed(error: unknown): void
}

type Phase = 'pending' | 'held' | 'over'

/**
 * One call of `acquire` and the grant that comes of it. Each has its own memory of a loss: the word of it may come
 * after the lease has granted and before the promise says so, and must not be taken for that of a later grant.
 */
export class Attempt {
  readonly #lease: Lease
  readonly #wait: number
  readonly #listener: AttemptListener
  #phase: Phase = 'pending'
  #lost: LeaseLost | undefined
  #controller: AbortController | undefined

  /** `wait`: for how long the attempt waits for its turn, in milliseconds. */
  constructor(lease: Lease, wait: number, listener: AttemptListener) {
    this.#lease = lease
    this.#wait = wait
    this.#listener = listener
  }

  get isHeld(): boolean {
    return this.#phase === 'held'
  }

  begin(): void {
    const settled = (granted: unknown): void => this.#settle(granted)
    const failed = (error: unknown): void =>
      this.#refuse(error ?? this.#unknown(`acquire failed with ${error}, which says nothing`))
    try {
      // A thenable of the lease's own could call back twice, or before it returns; a promise cannot.
      Promise.resolve(this.#acquire()).then(settled, failed)
    } catch (error) {
      failed(error)
    }
  }

  /** The end of all interest: cancels the call that is under way, gives back what is held or granted later on. */
  end(): void {
    const phase = this.#phase
    this.#phase = 'over'
    if (phase === 'pending') this.#controller?.abort()
    if (phase === 'held') this.#release()
  }

  #acquire(): Promise<boolean> {
    const attempt = this
    return this.#lease.acquire({
      wait: this.#wait,
      onLost: (lost) => this.#lose(checkedLoss(lost)),
      // A signal weighs more than the rest of the attempt, so it is made for a lease that looks at it.
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
      // It may be held: as after any unknown outcome, it is given back.
      this.#release()
      this.#refuse(this.#unknown(`acquire resolved with ${describe(granted)}, expected true or false`))
      return
    }
    const wanted = this.#phase === 'pending'
    this.#phase = wanted && this.#lost === undefined ? 'held' : 'over'
    if (this.#lost === undefined) {
      if (wanted) this.#listener.onGranted()
      else this.#release()
    } else if (wanted) this.#listener.onLost(this.#lost)
  }

  #refuse(error?: unknown): void {
    const wanted = this.#phase === 'pending'
    this.#phase = 'over'
    if (wanted) this.#listener.onRefused(error)
  }

  #lose(lost: LeaseLost): void {
    this.#lost ??= lost
    if (this.#phase !== 'held') return
    this.#phase = 'over'
    this.#listener.onLost(lost)
  }

  #release(): void {
    const failed = (error: unknown): void => this.#listener.onReleaseFailed(error)
    const ended = (released: unknown): void => {
      if (typeof released === 'boolean') return
      failed(this.#unknown(`release resolved with ${describe(released)}, expected true or false`))
    }
    try {
      Promise.resolve(this.#lease.release()).then(ended, failed)
    } catch (error) {
      failed(error)
    }
  }

  #unknown(what: string): LeaseUnavailableError {
    const { name, owner } = settingsOf(this.#lease)
    return new LeaseUnavailableError(`lease '${name}': ${what}; whether it is held is unknown`, {
      leaseName: name,
      owner,
    })
  }
}

/** The worker has to stop whatever a lease says of the loss. */
function checkedLoss(lost: unknown): LeaseLost {
  try {
    if (typeof (lost as LeaseLost).reason === 'string') return lost as LeaseLost
  } catch {
    // It is no object, or cannot be read.
  }
  return { reason: 'expired', cause: lost }
}
