import { eventually, freeClusterPort } from '@leasehold/testing'
import { RedisServer } from '@leasehold/testing/redis-server'

const NODES = 3
const SLOTS = 16_384

const ARGUMENTS = ['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-node-timeout', '2000']

/** A real cluster of three nodes, each with a third of the slots, and no replicas. */
export class RedisCluster {
  readonly nodes: readonly RedisServer[]

  private constructor(nodes: readonly RedisServer[]) {
    this.nodes = nodes
  }

  /** Resolves when every node knows the others and serves; `args` are added to each command line. */
  static async start(args: readonly string[] = []): Promise<RedisCluster> {
    const begun = await Promise.allSettled(
      Array.from({ length: NODES }, () => RedisServer.start({ port: freeClusterPort, args: [...ARGUMENTS, ...args] })),
    )
    const cluster = new RedisCluster(begun.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : [])))
    try {
      for (const start of begun) if (start.status === 'rejected') throw start.reason
      await cluster.#join()
      return cluster
    } catch (error) {
      await cluster.stop()
      throw error
    }
  }

  /** The slot of a key: of the part of it that stands in braces, if there is one. */
  async slotOf(key: string): Promise<number> {
    return Number(await this.#any().command('CLUSTER', 'KEYSLOT', key))
  }

  /** The node that serves a slot, according to the first node. */
  async ownerOf(slot: number): Promise<RedisServer> {
    const ranges = (await this.#any().command('CLUSTER', 'SLOTS')) as [number, number, [string, number]][]
    const port = ranges.find(([first, last]) => first <= slot && slot <= last)?.[2][1]
    const owner = this.nodes.find((node) => node.port === port)
    if (owner === undefined) throw new Error(`slot ${slot} has no owner`)
    return owner
  }

  /** From now on `from` answers ASK for keys of the slot that it does not have, or has no more. */
  async beginMigration(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
    await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from))
    await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to))
  }

  /** Moves the keys that the slot has at the moment to the node that imports it; resolves with how many there were. */
  async moveKeys(slot: number): Promise<number> {
    const [from, to] = [await this.ownerOf(slot), await this.#importerOf(slot)]
    const keys = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, 10_000)) as string[]
    if (keys.length > 0) await from.command('MIGRATE', '127.0.0.1', to.port, '', 0, 5_000, 'KEYS', ...keys)
    return keys.length
  }

  /** The node that imports the slot has it, and every node knows: the one that had it answers MOVED. */
  async endMigration(slot: number): Promise<void> {
    const [from, to] = [await this.ownerOf(slot), await this.#importerOf(slot)]
    const id = await idOf(to)
    // The new owner first: the others must not announce it earlier.
    const others = this.nodes.filter((node) => node !== to && node !== from)
    for (const node of [to, from, ...others]) await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', id)
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()))
  }

  async #join(): Promise<void> {
    const [first, ...others] = this.nodes
    for (const [index, node] of this.nodes.entries()) {
      const [from, to] = [index, index + 1].map((part) => Math.ceil((part * SLOTS) / NODES))
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
      await node.command('CLUSTER', 'ADDSLOTSRANGE', from ?? 0, (to ?? SLOTS) - 1)
    }
    for (const node of others) await node.command('CLUSTER', 'MEET', '127.0.0.1', first?.port ?? 0)
    await Promise.all(
      this.nodes.map((node) =>
        eventually(`the cluster is whole, as ${node.port} sees it`, async () => {
          const info = String(await node.command('CLUSTER', 'INFO'))
          return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${NODES}`)
        }),
      ),
    )
  }

  async #importerOf(slot: number): Promise<RedisServer> {
    for (const node of this.nodes) {
      const known = String(await node.command('CLUSTER', 'NODES'))
      if (known.includes(`[${slot}-<-`)) return node
    }
    throw new Error(`no node imports slot ${slot}: begin the migration first`)
  }

  #any(): RedisServer {
    const [first] = this.nodes
    if (first === undefined) throw new Error('this cluster has no nodes')
    return first
  }
}

async function idOf(node: RedisServer): Promise<string> {
  return String(await node.command('CLUSTER', 'MYID'))
}
