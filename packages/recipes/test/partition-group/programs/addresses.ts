// #region addresses
import type { LeaseStore } from '@leasehold/core'
import { PartitionGroup, type PartitionGroupOptions } from '@leasehold/recipes'

/** Reads the log as all other workers do, and knows where the reader of each partition is. */
export function createReader(store: LeaseStore, address: string, more: Partial<PartitionGroupOptions> = {}) {
  const addresses = new Map<number, string | undefined>()
  const group = new PartitionGroup(store, {
    name: 'order-log',
    partitions: 64,
    onAssigned: () => {},
    metadata: { address },
    ...more,
  })
  group.on('members', (members) => {
    addresses.clear()
    for (const { held, draining, metadata } of members) {
      for (const partition of [...held, ...draining]) addresses.set(partition, metadata.address)
    }
  })
  return { group, addressOf: (partition: number) => addresses.get(partition) }
}
// #endregion addresses
