/** A thread that takes a place in the queue of a name, and keeps it until it is terminated. */
import { parentPort, workerData } from 'node:worker_threads'
import { AbortableCall } from '@leasehold/core/store'
import { LocalLeaseStore } from '@leasehold/local'

const { folder } = workerData as { readonly folder: string }
const store = new LocalLeaseStore({ folder })
const request = { name: 'job', owner: 'thread', grantId: 'thread', ttl: 600_000, queue: true }

// Keeps the thread alive.
parentPort?.on('message', () => {})
void store.acquire(request, new AbortableCall()).then(() => {
  parentPort?.postMessage('waits')
})
