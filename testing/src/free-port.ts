import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * All are below the range from which the system assigns ports: otherwise a connection of another test could take a port while
 * its server starts, or starts again.
 */
const [LOWEST, LIMIT] = [10_000, 32_000]

/** The bus port of a Redis Cluster node, above its port. */
const BUS = 10_000

/** A port that is free at the moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, LIMIT)
    if (await isFree(port)) return port
  }
}

/** Different ports that are free at the moment. */
export async function freePorts<const N extends readonly string[]>(...names: N): Promise<Record<N[number], number>> {
  const ports = new Set<number>()
  while (ports.size < names.length) ports.add(await freePort())
  return Object.fromEntries(names.map((name, place) => [name, [...ports][place]])) as Record<N[number], number>
}

/** A port whose bus port is free too. */
export async function freeClusterPort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, LIMIT - BUS)
    if ((await isFree(port)) && (await isFree(port + BUS))) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}
