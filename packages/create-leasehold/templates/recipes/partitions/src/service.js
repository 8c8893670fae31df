// @ts-check
/** @import { Service, ServiceParts } from './contract.js' */
import { healthOf } from '@leasehold/core'
import { PartitionGroup } from '@leasehold/recipes'

/** How long a stop waits for the work, in milliseconds. Docker kills a process 10 s after SIGTERM, Kubernetes after 30 s. */
const stopTimeout = 8_000

/** The same in all processes. */
export const partitions = 8

/**
 * Each process works on a fair share of the partitions. The partitions of a process that ends move to the others.
 *
 * @param {ServiceParts} parts
 * @returns {Service}
 */
export function startService({ store, save, pause, print, report, lease }) {
  const group = new PartitionGroup(store, {
    ...lease,
    name: 'my-service',
    partitions,
    stopTimeout,
    onAssigned: async (assigned) => {
      const { partition, signal, fencingToken, position } = assigned
      // The next owner continues where this one has stopped.
      let offset = Number(position ?? 0)
      print(`works on partition ${partition} from ${offset} on, with the fencing token ${fencingToken}`)
      while (!signal.aborted) {
        offset += 1
        // Replace this by your work. Pass the signal to whatever takes time, and the token with each write.
        await save(`partition-${partition}`, `entry ${offset}`, { signal, fencingToken })
        await assigned.save(String(offset))
        await pause(1_000, { signal })
      }
    },
  })
  // The work on a partition has failed, or the store has refused. The group goes on.
  group.on('error', report)
  group.start()
  print(`${group.owner} has joined the group.`)
  return { health: () => healthOf(group), stop: () => group.stop() }
}
