import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { shownValue } from '../errors/shown-value.js'
import type { LeaseStore } from '../store/lease-store.js'
import { MigratingStore } from './migrating-store.js'
import type { RaisingStore } from './side.js'

/**
 * A store for the time in which leases move from one store to another while processes are replaced: each lease is held in
 * both. First all processes use `from`. Then they are replaced by processes with `migrate(from, to)`. When the last old one
 * is gone, `copyLeases` takes along the leases that nobody acquires. Then the processes are replaced by processes with `to`
 * alone. At no time may processes with `from` alone and processes with `to` alone run together. All give the two stores in
 * the same order.
 *
 * The holder excludes the holders of each store, and fencing tokens grow across both. An acquisition takes one round trip to
 * each store, one after the other, and in most cases a third one for the token; a heartbeat takes one to each, side by side.
 * If one of the stores cannot be reached, no lease can be acquired or renewed.
 *
 * Closing it closes both stores. Throws a `LeaseConfigurationError` if a store cannot raise fencing tokens, or both are one.
 */
export function migrate(from: LeaseStore, to: LeaseStore): LeaseStore {
  const [old, next] = [checked('from', from), checked('to', to)]
  if (from === to) {
    throw new LeaseConfigurationError('migrate: from and to are the same store: give it two stores', {
      store: 'migrate',
    })
  }
  return new MigratingStore(old, next)
}

function checked(role: 'from' | 'to', store: LeaseStore): RaisingStore {
  if (typeof Object(store).acquire !== 'function') {
    throw new LeaseConfigurationError(`migrate: ${role} must be a lease store, not ${shownValue(store)}`, {
      store: 'migrate',
    })
  }
  if (isRaising(store)) return store
  throw new LeaseConfigurationError(
    `migrate: the ${store.kind ?? 'store'} in ${role} has no raiseToken, so that fencing tokens cannot grow across both ` +
      'stores: use a version of its package that has it, or implement it if the store is your own',
    { store: 'migrate' },
  )
}

function isRaising(store: LeaseStore): store is RaisingStore {
  return store.raiseToken !== undefined
}
