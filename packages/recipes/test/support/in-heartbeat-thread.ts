import { type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import type { StoreSubject } from '@leasehold/testkit'
import type { OpenRelayed } from '../../../heartbeat-thread/test/support/relays.js'
import type { RecipePlace, RecipeSubject } from '../laws/recipe-trial.js'

const memory: StoreSubject = {
  name: 'a heartbeat thread',
  time: 'real',
  ttl: 8_000,
  serverTime: true,
  start: () => {
    const store = new MemoryLeaseStore()
    return { open: () => store, delete: (name) => store.delete(name) }
  },
}

/**
 * The recipe over leases whose engines run in a heartbeat thread. The thread gets a relay of the store of each place, so that
 * its faults happen to the engines. The trial awaits the recipe, which is made when the store is open.
 */
export function inHeartbeatThread<R, O>(
  subject: Omit<RecipeSubject<R, O>, 'store'>,
  openRelayed: OpenRelayed,
): RecipeSubject<R, O> {
  const create = async (place: RecipePlace, options: O): Promise<R> =>
    subject.create(placeOver(await openRelayed(place.store), place), options)
  return { ...subject, store: memory, create: (place, options) => create(place, options) as R }
}

/** The place with another store, and without random numbers: a thread has its own. */
function placeOver(store: LeaseStore, place: RecipePlace): RecipePlace {
  const { random: _, ...leaseOptions } = place.leaseOptions
  const changed = { store, leaseOptions }
  return new Proxy(place, {
    get: (_, key) => Reflect.get(Object.hasOwn(changed, key) ? changed : place, key),
  })
}
