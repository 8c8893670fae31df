import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { PartitionGroup } from '@leasehold/recipes'

const store = new LocalLeaseStore({ folder: 'leases' })

// Every instance does this. Each has a fair share of the partitions.
const group = new PartitionGroup(store, {
  name: 'orders',
  partitions: 4,
  heartbeatTimeout: 5_000,
  onAssigned: async ({ partition, signal, position = '0', save }) => {
    console.log(`process ${process.pid} reads partition ${partition}`)
    // The signal aborts when the partition moves on, or is lost.
    for (let offset = Number(position); !signal.aborted; offset += 1) {
      await pause(200) // your work: read and handle the event at the offset
      await save(String(offset + 1))
    }
  },
})
group.on('error', console.error)
group.start()

process.once('SIGINT', async () => {
  await group.stop()
  await store.close()
})
