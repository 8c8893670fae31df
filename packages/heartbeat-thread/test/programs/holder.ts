import cluster from 'node:cluster'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { createLease } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { block } from '../support/block.js'
import { fromSource } from '../support/thread-options.js'

/** Milliseconds. */
const TTL = 2_000

// Holds a lease in a place of the process, and prints the outcome after its event loop was blocked.
const [, , place = 'main'] = process.argv

function print(outcome: unknown): void {
  process.stdout.write(JSON.stringify(outcome))
}

async function hold(): Promise<object> {
  const thread = new HeartbeatThread(fromSource)
  const store = await thread.open({ leaseClass: '@leasehold/core#memoryLease' })
  const lease = createLease(store, 'job', { heartbeatTimeout: TTL })
  const isGranted = await lease.acquire()
  block(2 * TTL)
  return { isGranted, isHeld: lease.checkLease(), token: String(lease.fencingToken) }
}

if (place === 'worker' && isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { ...fromSource, argv: ['worker'] })
  worker.on('message', (outcome) => print(outcome))
} else if (place === 'worker') {
  parentPort?.postMessage(await hold())
} else if (place === 'cluster' && cluster.isPrimary) {
  const child = cluster.fork()
  child.on('message', (outcome) => {
    print(outcome)
    child.disconnect()
  })
} else if (place === 'cluster') {
  process.send?.(await hold())
} else {
  // The process ends here, with the lease held.
  print(await hold())
}
