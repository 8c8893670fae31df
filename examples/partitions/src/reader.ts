// #region reader
import type { LeaseStore } from '@leasehold/core'
import { PartitionGroup } from '@leasehold/recipes'
import type { EventLog } from './event-log.js'

/** Every instance calls this. Each reads a fair share of the partitions, from where the last reader stopped. */
export function readLog(store: LeaseStore, log: EventLog, handle: (event: string, token: bigint) => Promise<void>) {
  return new PartitionGroup(store, {
    name: 'order-log',
    partitions: log.partitions,
    heartbeatTimeout: 10_000,
    rebalanceInterval: 100,
    onAssigned: async ({ partition, signal, fencingToken, position, save }) => {
      let offset = Number(position ?? 0)
      // The signal aborts when the partition moves on, or is lost.
      while (!signal.aborted) {
        const events = await log.read(partition, offset)
        for (const event of events) await handle(event, fencingToken)
        offset += events.length
        if (events.length > 0) await save(String(offset))
      }
    },
  })
}
// #endregion reader
