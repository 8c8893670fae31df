/** A worker of a group in a process of its own: `worker.ts FOLDER OWNER`. Prints its events as lines of JSON. */

import { systemClock } from '@leasehold/core'
import { machineTime } from '@leasehold/core/store-kit'
import { LocalLeaseStore } from '@leasehold/local'
import { type AssignedPartition, PartitionGroup } from '@leasehold/recipes'

const [folder = '', owner = ''] = process.argv.slice(2)

/** Of one work on a partition, in milliseconds. */
const STEP = 50

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? String(value) : value))}\n`)
}

async function work(assigned: AssignedPartition): Promise<void> {
  const { partition, signal, fencingToken: token, position } = assigned
  print({ event: 'assigned', partition, token, position })
  let next = Number.parseInt(position ?? '0', 10)
  while (!signal.aborted) {
    // Before the check: a process that is stopped after it does not look late.
    const at = machineTime()
    if (assigned.checkLease()) print({ event: 'worked', partition, token, at })
    next += 1
    if (await assigned.save(String(next))) print({ event: 'saved', partition, token, position: next })
    await new Promise<void>((resolve) => systemClock.schedule(STEP, resolve))
  }
  const isSaved = await assigned.save(`${next} at the end`)
  print({ event: 'ended', partition, token, isSaved })
}

const store = new LocalLeaseStore({ folder })
const group = new PartitionGroup(store, {
  name: 'log',
  partitions: 6,
  owner,
  onAssigned: work,
  stopTimeout: 5_000,
  rebalanceInterval: 200,
  heartbeatTimeout: 2_000,
  heartbeatInterval: 400,
  operationTimeout: 500,
})
process.on('SIGTERM', async () => {
  await group.stop()
  await store.close()
  print({ event: 'stopped' })
  process.exit()
})
// The worker must not outlive the test. The open pipe keeps it alive meanwhile: timers of a group do not.
process.stdin.on('end', () => process.exit()).resume()
group.start()
