import { createLease, type Lease, type LeaseStore } from '@leasehold/core'
import type { LeaseAbility, LeaseBackend, LeaseSubject } from './lease-subject.js'
import { type AbleStore, storeAbilities } from './store-abilities.js'
import type { StoreBackend, StoreSubject } from './store-subject.js'

/** The leases over a store, as the laws of leases see them. */
export function leasesOver(subject: StoreSubject): LeaseSubject {
  return {
    name: `leases over ${subject.name}`,
    time: subject.time,
    ttl: subject.ttl,
    remote: subject.remote,
    start: async (clock): Promise<LeaseBackend> => {
      const backend = await subject.start(clock)
      const outside = await backend.open(clock)
      const clients = new Map<Lease, LeaseStore>()
      return {
        abilities: abilitiesOf({ subject, backend, client: outside }),
        outside,
        open: async ({ name, options, disturb }) => {
          await backend.prepare?.(name)
          const client = await backend.open(options.clock)
          const lease = createLease(disturb(client), name, options)
          clients.set(lease, client)
          return lease
        },
        delete: (name) => backend.delete?.(name),
        ...linksOf(backend, clients),
        stop: async () => {
          for (const client of new Set([outside, ...clients.values()])) await client.close()
          await backend.stop?.()
        },
      }
    },
  }
}

/** The abilities that leases have because their store has them. */
const ofTheStore = ['queue', 'change', 'break', 'infinite', 'deletion', 'any-name', 'closing'] as const

function abilitiesOf(store: AbleStore): LeaseAbility[] {
  const shared = ofTheStore.filter((ability) => storeAbilities[ability][0](store))
  return ['wait', 'tokens', 'store', ...shared, ...(store.subject.time === 'virtual' ? ['virtual-time' as const] : [])]
}

/** How the backend cuts leases off, where it does so itself: by the clients that they are over. */
function linksOf(
  backend: StoreBackend,
  clients: ReadonlyMap<Lease, LeaseStore>,
): Pick<LeaseBackend, 'cutOff' | 'heal'> {
  if (backend.cutOff === undefined) return {}
  return {
    cutOff: (lease) => backend.cutOff?.(clients.get(lease) as LeaseStore),
    heal: (lease) => backend.heal?.(clients.get(lease) as LeaseStore),
  }
}
