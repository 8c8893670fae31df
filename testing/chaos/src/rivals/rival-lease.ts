import { setTimeout as pause } from 'node:timers/promises'
import { type AcquireOptions, type Clock, Lease, type LeaseLost, LeaseSettings } from '@leasehold/core'
import { machineTime } from '@leasehold/core/store-kit'

/** How long a challenger waits before it asks again, in milliseconds. */
const RETRY = 100

/** A lock of another library, as its user sees it. */
export interface RivalLock {
  /** For how long its user takes it for held if nothing more is heard of it, in milliseconds; 0 if not held. */
  remaining(): number
  /** Resolves as `Lease.release` does, as far as the library says so. Called also after it has expired, as by a `finally`. */
  release(): Promise<boolean>
}

/** Tries once. `undefined`: someone else has it. Rejects where the library does not say. */
export type TryLock = (name: string, onLost: (lost: LeaseLost) => void) => Promise<RivalLock | undefined>

/**
 * Shows the locks of another library as leases, and adds no safety of its own: it is held for as long as the user of the
 * library would believe it.
 *
 * These libraries have no fencing tokens. The instant of the grant, in nanoseconds of the machine's monotonic clock, tells
 * their grants apart in the history.
 */
export class RivalLease extends Lease {
  readonly #tryLock: TryLock
  readonly #clock: Clock
  #lock: RivalLock | undefined
  #token = 0n

  constructor(tryLock: TryLock, { name, owner, clock }: { name: string; owner: string; clock: Clock }) {
    super(new LeaseSettings({ name, owner }))
    this.#tryLock = tryLock
    this.#clock = clock
  }

  override async acquire({ wait = 0, signal, onLost = () => {} }: AcquireOptions = {}): Promise<boolean> {
    if (this.checkLease()) return true
    await this.release().catch(() => {})
    const end = machineTime() + wait
    for (;;) {
      signal?.throwIfAborted()
      const lock = await this.#tryLock(this.settings.name, onLost)
      if (lock !== undefined) {
        this.#token = process.hrtime.bigint()
        this.#lock = lock
        return true
      }
      if (machineTime() + RETRY > end) return false
      await pause(RETRY, undefined, { signal })
    }
  }

  override async release(): Promise<boolean> {
    const lock = this.#lock
    this.#lock = undefined
    return (await lock?.release()) ?? true
  }

  override checkLease(): boolean {
    return this.#remaining > 0
  }

  override get fencingToken(): bigint | undefined {
    return this.#lock === undefined ? undefined : this.#token
  }

  override get validUntil(): number {
    const remaining = this.#remaining
    return remaining > 0 ? this.#clock.now() + remaining : 0
  }

  get #remaining(): number {
    return Math.max(0, this.#lock?.remaining() ?? 0)
  }
}
