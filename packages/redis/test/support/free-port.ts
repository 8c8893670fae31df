import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** How far above its port a node of a cluster speaks to the others. */
const BUS = 10_000

/** A port without a listener at the moment. */
export async function freePort(): Promise<number> {
  const port = await listenOnce(0)
  if (port === undefined) throw new Error('no port is free')
  return port
}

/** A port whose bus port is free too: both below those that the system assigns. */
export async function freeClusterPort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 22_000)
    if ((await listenOnce(port)) !== undefined && (await listenOnce(port + BUS)) !== undefined) return port
  }
}

/** The port, when it was free. */
async function listenOnce(port: number): Promise<number | undefined> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  } catch {
    return undefined
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}
