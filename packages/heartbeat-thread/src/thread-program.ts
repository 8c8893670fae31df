import { parentPort, workerData } from 'node:worker_threads'
import { ThreadHost } from './thread-host.js'
import type { Request, ThreadData } from './thread-messages.js'

// The program of the heartbeat thread, started by a ThreadLink.
const port = parentPort
if (port !== null) {
  const host = new ThreadHost(
    workerData as ThreadData,
    (replies) => port.postMessage(replies),
    () => process.exit(),
  )
  port.on('message', (requests: readonly Request[]) => host.receive(requests))
}
