import { createServer } from 'node:net'
import { PortLease } from './port-lease.js'

/** Finds a free port, so that the example runs on any machine. */
async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

const port = await findFreePort()
const [first, second] = [new PortLease('indexer', port), new PortLease('indexer', port)]
console.log(`first: ${await first.acquire()}, second: ${await second.acquire()}`)
await first.release()
console.log(`after the release, second: ${await second.acquire()}, first holds: ${first.checkLease()}`)
await second.release()
