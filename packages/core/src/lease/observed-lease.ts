import type { LeaseLost } from '../errors/lease-lost.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import { callGuarded } from '../user-code/guarded-calls.js'
import type { AcquireOptions } from './acquire-options.js'

/** A lease that need not have more than its three methods. */
export interface PlainLease {
  readonly settings?: LeaseSettings
  readonly fencingToken?: bigint | undefined
  readonly remaining?: number
  acquire(options?: AcquireOptions): Promise<boolean>
  release(): Promise<boolean>
  checkLease(): boolean
}

/**
 * Observes the releases of a lease. A release has no callback, so the method `release` of this one object is replaced by
 * `around`, which is given the method that was there. The lease of a user may be frozen: its releases are not observed.
 */
export function observeReleases(
  lease: PlainLease,
  around: (release: () => Promise<boolean>) => Promise<boolean>,
): void {
  if (!Object.isExtensible(lease)) return
  const { release } = lease
  const observed = (...args: Parameters<PlainLease['release']>): Promise<boolean> =>
    around(() => release.apply(lease, args))
  Object.defineProperty(lease, 'release', { value: observed, configurable: true, writable: true })
}

/** Observes the loss of the grant that is held by acquiring it again: that changes nothing but adds a callback. */
export function observeLoss(
  lease: PlainLease,
  onLost: (lost: LeaseLost) => unknown,
  report: (error: unknown) => void,
): void {
  const gone = (): void => void onLost({ reason: 'expired' })
  callGuarded(
    () => lease.acquire({ onLost }).then((isHeld) => isHeld || gone(), gone),
    (error) => {
      report(error)
      gone()
    },
  )
}
