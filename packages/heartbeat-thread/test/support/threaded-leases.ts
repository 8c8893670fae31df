import { createLease, type Lease, type LeaseStore } from '@leasehold/core'
import { type LeaseSubject, leaseLaws, leasesOver, type StoreSubject } from '@leasehold/testkit'
import type { OpenRelayed } from './relays.js'

/** The laws of leases, except one: an error from another thread is a copy, so that the cause is not the same object. */
export const threadedLaws = leaseLaws.filter(
  ({ name }) => name !== 'acquire rejects with a LeaseError that has the failure of the store as cause',
)

/**
 * Leases over a store, with their engines in a heartbeat thread. The thread gets a relay of the disturbed store, so that all
 * faults of the laws happen to the engines there.
 */
export function threadedLeases(subject: StoreSubject, openRelayed: OpenRelayed): LeaseSubject {
  const direct = leasesOver(subject)
  return {
    ...direct,
    name: `leases of a heartbeat thread over ${subject.name}`,
    start: async (clock) => {
      const backend = await subject.start(clock)
      const opened: LeaseStore[] = [await backend.open(clock)]
      const [outside] = opened
      // A backend of its own, to ask for the abilities.
      const { abilities, stop } = await direct.start(clock)
      await stop?.()
      return {
        abilities,
        outside,
        open: async ({ name, options, disturb }): Promise<Lease> => {
          await backend.prepare?.(name)
          const client = await backend.open(clock)
          opened.push(client)
          const disturbed = disturb(closingWith(client, async () => await store.close()))
          const store = await openRelayed(disturbed)
          // A thread has a clock and random numbers of its own.
          return createLease(store, name, { ...options, clock: undefined, random: undefined })
        },
        ...(backend.delete === undefined ? {} : { delete: (name: string) => backend.delete?.(name) }),
        stop: async () => {
          for (const client of opened) await client.close()
          await backend.stop?.()
        },
      }
    },
  }
}

/** The store; its `close` also waits until the store in the thread is closed. */
function closingWith(store: LeaseStore, alsoClose: () => Promise<void>): LeaseStore {
  const close = async (): Promise<void> => {
    await store.close()
    await alsoClose()
  }
  return new Proxy(store, {
    get: (target, key) => {
      if (key === 'close') return close
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
