import { createLease, type Lease, type LeaseStore, type StoreLease } from '@leasehold/core'
import { AllOf } from '@leasehold/recipes'
import type { LeaseAbility, LeaseSubject, StoreSubject } from '@leasehold/testkit'

/** The abilities of a lease over several leases, where the store admits them. */
const abilities: readonly LeaseAbility[] = ['wait', 'any-name', 'virtual-time']

/** Leases over `count` names of a store, as the laws of leases see them. */
export function jointLeases(subject: StoreSubject, count: number): LeaseSubject {
  return {
    name: `AllOf ${count} leases over ${subject.name}`,
    time: subject.time,
    ttl: subject.ttl,
    remote: subject.remote,
    start: async (clock) => {
      const backend = await subject.start(clock)
      const opened: LeaseStore[] = []
      const parts: StoreLease[] = []
      return {
        abilities: (await backend.open(clock)).limits.ordered ? [...abilities, 'queue'] : abilities,
        open: async ({ name, options, disturb }) => {
          const client = await backend.open(options.clock)
          opened.push(client)
          const store = disturb(client)
          const made: Lease[] = Array.from({ length: count }, (_, part) => {
            const lease = createLease(store, `${name}/${part}`, options)
            parts.push(lease)
            return lease
          })
          // Given in the reverse of the order in which they are acquired.
          return new AllOf(made.toReversed(), { clock: options.clock, logger: options.logger })
        },
        stop: async () => {
          await Promise.allSettled(parts.map((part) => part.close()))
          for (const client of opened) await client.close()
          await backend.stop?.()
        },
      }
    },
  }
}
