import { type Grant, type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { migrate } from '@leasehold/core/migrate'
import { AbortableCall, type AcquireRequest, viewOf } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { guidOf } from '../support/guid-of.js'

export const TTL = 10_000
export const NAME = 'orders'
const FAR = 10n ** 15n

export const call = new AbortableCall(1_000)

/** Two stores whose tokens are far apart, and the three kinds of processes: with one of them, with both, with the other. */
export interface TwoStores {
  readonly clock: VirtualClock
  readonly from: MemoryLeaseStore
  readonly to: MemoryLeaseStore
  readonly both: LeaseStore
}

/** `ahead`: the store whose tokens begin at 10^15; those of the other begin at 1. */
export async function twoStores(ahead: 'from' | 'to' = 'to', clock = new VirtualClock()): Promise<TwoStores> {
  const from = new MemoryLeaseStore({ clock })
  const to = new MemoryLeaseStore({ clock })
  const far = ahead === 'from' ? from : to
  const first = await granted(far, 'first')
  await far.raiseToken(first, FAR, call)
  await far.release({ ...first, fencingToken: FAR })
  return { clock, from, to, both: migrate(from, to) }
}

export function requestOf(by: string, more: Partial<AcquireRequest> = {}): AcquireRequest {
  return { name: NAME, owner: by, grantId: guidOf(by), ttl: TTL, ...more }
}

export async function granted(store: LeaseStore, by: string, more?: Partial<AcquireRequest>): Promise<Grant> {
  const outcome = await store.acquire(requestOf(by, more), call)
  if (!outcome.granted) throw new Error(`${by} was refused`)
  return outcome.grant
}

export async function isRefused(store: LeaseStore, by: string): Promise<boolean> {
  const outcome = await store.acquire(requestOf(by), call)
  return !outcome.granted
}

/** The methods whose calls reach a server. */
const methods = ['acquire', 'renew', 'release', 'read', 'update', 'raiseToken', 'change', 'break', 'withdraw'] as const

/** The store, with `before` called before each call, which it can hold up or replace by a failure. */
export function intercepted(
  store: LeaseStore,
  before: (method: (typeof methods)[number]) => unknown,
  after: (method: (typeof methods)[number]) => unknown = () => {},
): LeaseStore {
  const overrides = methods.map((method) => {
    const override = (own: (...args: unknown[]) => Promise<unknown>) => {
      return async (...args: unknown[]) => {
        await before(method)
        const outcome = await own(...args)
        await after(method)
        return outcome
      }
    }
    return [method, override] as const
  })
  return viewOf(store, Object.fromEntries(overrides))
}
