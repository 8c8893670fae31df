import type { Connection, Dialect, ScriptCall } from './connection.js'
import { keySlot } from './key-slot.js'
import type { NodeRedisClient, NodeRedisClusterClient, NodeRedisSentinelClient } from './redis-client.js'
import { Traffic } from './traffic.js'

/** How long a node may take to say who has which slot, in milliseconds: then another is asked. */
const DISCOVERY = 1_000

type NodeRedisLike = NodeRedisClient | NodeRedisClusterClient | NodeRedisSentinelClient

/** For connections as the given client of node-redis has them. */
export function nodeRedisDialect(client: NodeRedisLike): Dialect {
  return {
    clustered: isCluster(client),
    keyPrefix: keyPrefixOf(client),
    open: (signal) => openConnection(duplicateOf(client), signal),
  }
}

function isCluster(client: NodeRedisLike): client is NodeRedisClusterClient {
  return 'slots' in client
}

function isSentinel(client: NodeRedisLike): client is NodeRedisSentinelClient {
  return 'getMasterNode' in client
}

/** That of a cluster and of sentinels is not among their public properties. */
function keyPrefixOf(client: NodeRedisLike): string {
  const { keyPrefix } = ('options' in client ? client.options : {}) as { keyPrefix?: unknown }
  const { _keyPrefix } = client as { _keyPrefix?: unknown }
  return String(keyPrefix ?? _keyPrefix ?? '')
}

/**
 * Nothing is queued while there is no connection, and nothing repeated; one server and a master are reconnected from here,
 * nodes of a cluster by the client.
 */
function duplicateOf(client: NodeRedisLike): NodeRedisLike {
  const common = { disableOfflineQueue: true, commandOptions: {} }
  if (isCluster(client)) {
    const { defaults, rootNodes = [] } = optionsOf(client)
    return client.duplicate({
      commandOptions: {},
      defaults: { ...defaults, ...common },
      rootNodes: rootNodes.map((node) => ({ ...node, socket: { ...node.socket, socketTimeout: DISCOVERY } })),
      // Else it would wait for all nodes before it asks one.
      minimizeConnections: true,
    })
  }
  if (isSentinel(client)) {
    return client.duplicate({
      commandOptions: {},
      // It would look for a master again and again, and repeat commands.
      maxCommandRediscovers: 0,
      passthroughClientErrorEvents: true,
    })
  }
  const { socket } = client.options as { socket?: object }
  return client.duplicate({ ...common, keyPrefix: undefined, socket: { ...socket, reconnectStrategy: false } })
}

function optionsOf(client: NodeRedisClusterClient): {
  readonly defaults?: object
  readonly rootNodes?: readonly { readonly socket?: object }[]
} {
  return (client as { _options?: object })._options ?? {}
}

async function openConnection(client: NodeRedisLike, signal: AbortSignal): Promise<Connection> {
  const connection = new NodeRedisConnection(client)
  // Why no node could be asked is told in an event.
  let failure: unknown
  client.on('error', (error) => {
    failure ??= error
  })
  const onAbort = (): void => connection.destroy()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await client.connect()
    connection.opened()
    return connection
  } catch (error) {
    connection.destroy()
    throw failure instanceof Error ? failure : error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

export function runByNodeRedis(
  client: NodeRedisLike,
  { command, script, keys, args }: ScriptCall,
  abortSignal: AbortSignal | undefined,
): Promise<unknown> {
  const words = [command, script, String(keys.length), ...keys, ...args]
  const options = abortSignal === undefined ? {} : { abortSignal }
  if (isCluster(client)) return client.sendCommand(keys[0], false, words, options)
  if (isSentinel(client)) return client.sendCommand(false, words, options)
  return client.sendCommand(words, options)
}

class NodeRedisConnection implements Connection {
  readonly takesBack = true
  readonly traffic = new Traffic()
  readonly #client: NodeRedisLike
  readonly #onEnd: (() => void)[] = []
  #isOpen = false
  #isOver = false

  constructor(client: NodeRedisLike) {
    this.#client = client
    client.on('error', (error) => {
      if (this.#isFatal(error)) this.destroy()
    })
    client.on('end', () => this.#end())
  }

  /** From now on a failure of the client is one of the connection. */
  opened(): void {
    this.#isOpen = true
  }

  nodeOf(key: string): string {
    return isCluster(this.#client) ? (this.#client.slots[keySlot(key)]?.master.address ?? '') : ''
  }

  prepare(key: string): Promise<unknown> | undefined {
    const client = this.#client
    if (!isCluster(client)) return undefined
    const shard = client.slots[keySlot(key)]
    return shard === undefined ? undefined : client.nodeClient(shard.master as never)
  }

  run(call: ScriptCall, signal?: AbortSignal): Promise<unknown> {
    return runByNodeRedis(this.#client, call, signal)
  }

  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown> {
    // A cluster client subscribes anew without a word of what was missed.
    this.#client.on('node-error', () => this.destroy())
    return this.#client.subscribe(channel, onMessage)
  }

  onEnd(callback: () => void): void {
    if (this.#isOver) callback()
    else this.#onEnd.push(callback)
  }

  destroy(): void {
    try {
      // Where it is closed already, it throws or rejects.
      void Promise.resolve(this.#client.destroy()).catch(() => {})
    } catch {
      // Closed is what it should be.
    }
    this.#end()
  }

  /** One server: the connection is not made again. A master: another may have taken its place. A sentinel is one of several. */
  #isFatal(error: unknown): boolean {
    const client = this.#client
    if (isSentinel(client))
      return this.#isOpen && error instanceof Error && !error.message.startsWith('Sentinel Client')
    return 'isOpen' in client && client.isOpen === false
  }

  #end(): void {
    this.#isOver = true
    for (const callback of this.#onEnd.splice(0)) callback()
  }
}
