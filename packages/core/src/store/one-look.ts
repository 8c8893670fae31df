import type { LeaseStore, StoreLimits } from './lease-store.js'

/** A waiter asks once more just after the expiry, and the store takes time to answer. In milliseconds. */
const LAST_REQUEST = 500

/** How long a challenger has to wait at least, in milliseconds, and the advice to do so. */
export interface LeastWait {
  readonly wait: number
  readonly advice: string
}

/** The {@link LeastWait} of a lease that is made of others. In the global registry: all copies of this package share it. */
export const leastWaitOf: unique symbol = Symbol.for('@leasehold/core/least-wait')

type LookLimits = Pick<StoreLimits, 'observed' | 'looks'>

/** How often challengers have to look at a record, see `StoreLimits.looks`; `undefined` where only observation helps. */
export function looksOf({ observed, looks }: LookLimits): StoreLimits['looks'] {
  return observed === true ? looks : { needed: 1, extra: 0 }
}

/**
 * The least `wait` with which a challenger can replace a dead holder with this ttl, in milliseconds and whole seconds, and the
 * advice to set it; `undefined` where one look is enough.
 */
export function leastWait(store: Pick<LeaseStore, 'kind' | 'limits'>, ttl: number): LeastWait | undefined {
  if (looksOf(store.limits)?.needed === 1) return undefined
  const wait = Math.ceil((ttl + LAST_REQUEST) / 1_000) * 1_000
  return { wait, advice: waitAdvice(store, `wait: ${String(wait).replace(/\B(?=(\d{3})+$)/g, '_')}`) }
}

/** The advice to wait for long enough. `option`: how the caller does that, such as `wait: 31_000`. */
export function waitAdvice({ kind = 'custom', limits }: Pick<LeaseStore, 'kind' | 'limits'>, option: string): string {
  const later = looksOf(limits) === undefined ? '' : ', or try again after that time'
  return (
    `The ${kind} store cannot tell a dead holder from a live one in one look: wait for longer than the ttl of the holder, ` +
    `such as ${option}${later}`
  )
}
