import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import type { LeaseClaim, LeaseSubject, StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws } from '@leasehold/testkit/vitest'
import { type Permit, ReadWriteLease, Semaphore } from '../../src/index.js'

function over(
  name: string,
  store: StoreSubject,
  open: (claim: LeaseClaim, store: Parameters<LeaseClaim['disturb']>[0]) => Permit | ReadWriteLease['shared'],
): LeaseSubject {
  return {
    name: `${name} over ${store.name}`,
    time: store.time,
    start: async (clock) => {
      const backend = await store.start(clock)
      return {
        abilities: ['wait', 'tokens', 'virtual-time'],
        open: async (claim) => open(claim, claim.disturb(await backend.open(claim.options.clock))),
        ...(backend.stop === undefined ? {} : { stop: () => backend.stop?.() }),
      }
    },
  }
}

for (const store of [memorySubject, casSubject]) {
  describeLeaseLaws(
    over('the only permit', store, (claim, client) =>
      new Semaphore(client, { ...claim.options, name: claim.name, permits: 1 }).permit(),
    ),
  )
  describeLeaseLaws(
    over(
      'the writer',
      store,
      (claim, client) => new ReadWriteLease(client, { ...claim.options, name: claim.name, readers: 2 }).exclusive,
    ),
  )
}
