import { MemoryLeaseStore } from '@leasehold/core'
import type { PartitionGroup } from '@leasehold/recipes'
import { EventLog } from './event-log.js'
import { readLog } from './reader.js'

const PARTITIONS = 12
const EVENTS = 1_200

const store = new MemoryLeaseStore()
const log = new EventLog(PARTITIONS)
/** How often each event was handled. */
const handled = new Map<string, number>()

function startReader(): PartitionGroup {
  const reader = readLog(store, log, async (event) => {
    handled.set(event, (handled.get(event) ?? 0) + 1)
  })
  reader.start()
  return reader
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Resolves when each of the readers has `each` partitions. */
async function share(each: number, ...readers: readonly PartitionGroup[]): Promise<void> {
  await until(() => readers.every(({ assigned }) => assigned.length === each))
  console.log(`${readers.length} readers, ${readers.map(({ assigned }) => assigned.length).join(' + ')} partitions`)
}

/** Appends events all the time, ten at once. */
async function appendEvents(): Promise<void> {
  for (let event = 0; event < EVENTS; event += 1) {
    log.append(event % PARTITIONS, `event ${event}`)
    if (event % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const appending = appendEvents()
const [anna, berta, carla] = [startReader(), startReader(), startReader()]
await share(4, anna, berta, carla)
await carla.stop()
await share(6, anna, berta)
const doris = startReader()
await share(4, anna, berta, doris)
await appending
await until(() => handled.size === EVENTS)
const twice = [...handled.values()].filter((count) => count > 1).length
console.log(`${handled.size} events handled, ${twice} of them twice`)
await Promise.all([anna, berta, doris].map((reader) => reader.stop()))
