import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** The bus port of a Redis Cluster node, above its port. */
const BUS = 10_000

/** A port that is free at the moment. */
export async function freePort(): Promise<number> {
  const port = await listenOnce(0)
  if (port === undefined) throw new Error('no port is free')
  return port
}

/** Different ports that are free at the moment. */
export async function freePorts<const N extends readonly string[]>(...names: N): Promise<Record<N[number], number>> {
  const ports = new Set<number>()
  while (ports.size < names.length) ports.add(await freePort())
  return Object.fromEntries(names.map((name, place) => [name, [...ports][place]])) as Record<N[number], number>
}

/** A port whose bus port is free too; both are below the range from which the system assigns ports. */
export async function freeClusterPort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 22_000)
    if ((await listenOnce(port)) !== undefined && (await listenOnce(port + BUS)) !== undefined) return port
  }
}

/** The port, if it was free. */
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
