import type { LeaseLost } from '@leasehold/core'
import { extendHeld, heldOf } from '@leasehold/core/internal'
import type { EnteredLease } from '../slots/entered-lease.js'
import type { Lock, LockMode } from './lock.js'
import type { LockRequest } from './lock-request.js'

/** A lock whose callback was called. */
export class HeldLock {
  readonly request: LockRequest
  readonly lock: Lock
  readonly #controller = new AbortController()

  constructor(request: LockRequest, lease: EnteredLease) {
    const { name, mode } = request
    const { signal } = this.#controller
    this.request = request
    // A lease over a store has a token while it is held.
    const held = heldOf(lease, { signal, fencingToken: lease.fencingToken })
    this.lock = extendHeld(held, { name, mode }) as unknown as Lock
  }

  /** Asks the callback to end. */
  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  /** The lock has ended before its callback. */
  end(error: unknown): void {
    this.request.reject(error)
    this.abort(error)
  }
}

/** A lease, and the locks of this process that are held under it: one exclusive, or any number of shared ones. */
export class LockHold {
  readonly lease: EnteredLease
  readonly mode: LockMode
  readonly locks = new Set<HeldLock>()
  /** Whether no more locks may be held under it. */
  isClosed = false
  readonly #onLost: (hold: LockHold, lost: LeaseLost) => void

  constructor(mode: LockMode, lease: EnteredLease, onLost: (hold: LockHold, lost: LeaseLost) => void) {
    this.mode = mode
    this.lease = lease
    this.#onLost = onLost
  }

  /** Acquires the lease. With `ifAvailable`, resolves with `false` if it is not available now. */
  async acquire(
    ifAvailable: boolean,
    signal: AbortSignal,
    metadata?: Readonly<Record<string, string>>,
  ): Promise<boolean> {
    return await this.lease.acquire({
      wait: ifAvailable ? 0 : Number.POSITIVE_INFINITY,
      signal,
      onLost: (lost) => {
        this.isClosed = true
        this.#onLost(this, lost)
      },
      ...(metadata === undefined ? {} : { metadata }),
    })
  }

  add(request: LockRequest): HeldLock {
    const held = new HeldLock(request, this.lease)
    this.locks.add(held)
    return held
  }

  /** Ends all its locks. */
  end(error: unknown): void {
    this.isClosed = true
    const locks = [...this.locks]
    this.locks.clear()
    for (const lock of locks) lock.end(error)
  }
}
