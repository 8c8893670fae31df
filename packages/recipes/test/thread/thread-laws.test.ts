import { MemoryLeaseStore } from '@leasehold/core'
import type { StoreSubject } from '@leasehold/testkit'
import {
  onceLaws,
  type ReadWriteLawOptions,
  type ReadWriteUnderTest,
  type RecipePlace,
  readWriteLaws,
  type SemaphoreLawOptions,
  type SemaphoreUnderTest,
  semaphoreLaws,
} from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { relayedStores } from '../../../core/test/thread/support/relays.js'
import { Once, ReadWriteLease, Semaphore } from '../../src/index.js'

const openRelayed = relayedStores()

const store: StoreSubject = {
  name: 'a heartbeat thread',
  time: 'real',
  ttl: 8_000,
  serverTime: true,
  start: () => {
    const memory = new MemoryLeaseStore()
    return { open: () => memory, delete: (name) => memory.delete(name) }
  },
}

/** Makes the recipe over the store of the place, as it is open in the thread. The trial awaits it. */
function inThread<R>(place: RecipePlace, make: (place: Pick<RecipePlace, 'store' | 'leaseOptions'>) => R): R {
  const { random: _, ...leaseOptions } = place.leaseOptions
  const made = openRelayed(place.store).then((opened) => make({ store: opened as typeof place.store, leaseOptions }))
  return made as R
}

describeRecipeLaws<SemaphoreUnderTest, SemaphoreLawOptions>(
  {
    name: 'Semaphore',
    store,
    create: (place, options) =>
      inThread(
        place,
        ({ store, leaseOptions }) => new Semaphore(store, { ...leaseOptions, ...options, name: place.name }),
      ),
  },
  semaphoreLaws,
)

describeRecipeLaws<ReadWriteUnderTest, ReadWriteLawOptions>(
  {
    name: 'ReadWriteLease',
    store,
    create: (place, options) =>
      inThread(
        place,
        ({ store, leaseOptions }) => new ReadWriteLease(store, { ...leaseOptions, ...options, name: place.name }),
      ),
  },
  readWriteLaws,
)

describeRecipeLaws(
  {
    name: 'Once',
    store,
    create: (place) => inThread(place, ({ store, leaseOptions }) => new Once(store, leaseOptions)),
  },
  onceLaws,
)
