import type { LeaseStore } from '../store/lease-store.js'

/** Every property of a store: the compiler reports one that is forgotten here. */
const properties: Readonly<Record<keyof LeaseStore, true>> = {
  limits: true,
  closed: true,
  kind: true,
  acquire: true,
  renew: true,
  release: true,
  read: true,
  update: true,
  raiseToken: true,
  list: true,
  change: true,
  break: true,
  withdraw: true,
  watch: true,
  watchGrant: true,
  renewMany: true,
  probe: true,
  close: true,
}

/**
 * A wrapper of a store: it does what `overrides` say, and passes everything else on to the store. It has the optional
 * methods that the store has, and no others. Each override gets the property of the store, its method bound to the store, and
 * may leave it out by `undefined`.
 */
export function viewOf(
  store: LeaseStore,
  overrides: { readonly [P in keyof LeaseStore]?: (own: NonNullable<LeaseStore[P]>) => LeaseStore[P] | undefined },
): LeaseStore {
  function propertyOf<P extends keyof LeaseStore>(name: P): unknown {
    const own: LeaseStore[P] | undefined = store[name]
    if (own === undefined || own === null) return undefined
    const bound: NonNullable<LeaseStore[P]> = typeof own === 'function' ? Function.prototype.bind.call(own, store) : own
    const override = overrides[name]
    return override === undefined ? bound : override(bound)
  }
  const entries = (Object.keys(properties) as (keyof LeaseStore)[]).map((name) => [name, propertyOf(name)] as const)
  // All properties of a store were taken over.
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as unknown as LeaseStore
}
