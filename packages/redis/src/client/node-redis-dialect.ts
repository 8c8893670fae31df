import type { Connection, Dialect, ScriptCall } from './connection.js'
import type { NodeRedisClient, NodeRedisClusterClient, NodeRedisSentinelClient } from './redis-client.js'

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

/** Only clients of one server have a prefix that can be read. */
function keyPrefixOf(client: NodeRedisLike): string {
  const { keyPrefix } = ('options' in client ? client.options : {}) as { keyPrefix?: unknown }
  return keyPrefix === undefined ? '' : String(keyPrefix)
}

/** Nothing is queued while there is no connection; one server is reconnected from here, nodes by the client. */
function duplicateOf(client: NodeRedisLike): NodeRedisLike {
  const common = { disableOfflineQueue: true, commandOptions: {} }
  if (isCluster(client)) {
    const { defaults } = ((client as { _options?: unknown })._options ?? {}) as { defaults?: object }
    return client.duplicate({ commandOptions: {}, defaults: { ...defaults, ...common } })
  }
  if (isSentinel(client)) return client.duplicate({ commandOptions: {} })
  const { socket } = client.options as { socket?: object }
  return client.duplicate({ ...common, keyPrefix: undefined, socket: { ...socket, reconnectStrategy: false } })
}

async function openConnection(client: NodeRedisLike, signal: AbortSignal): Promise<Connection> {
  const connection = new NodeRedisConnection(client)
  const onAbort = (): void => connection.destroy()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await client.connect()
    return connection
  } catch (error) {
    connection.destroy()
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

export function runByNodeRedis(
  client: NodeRedisLike,
  { command, script, keys, args }: ScriptCall,
  abortSignal: AbortSignal,
): Promise<unknown> {
  const words = [command, script, String(keys.length), ...keys, ...args]
  if (isCluster(client)) return client.sendCommand(keys[0], false, words, { abortSignal })
  if (isSentinel(client)) return client.sendCommand(false, words, { abortSignal })
  return client.sendCommand(words, { abortSignal })
}

class NodeRedisConnection implements Connection {
  readonly #client: NodeRedisLike
  readonly #onEnd: (() => void)[] = []
  #isOver = false

  constructor(client: NodeRedisLike) {
    this.#client = client
    // One server: the connection is not made again. Nodes: the client goes on by itself.
    client.on('error', () => {
      if ('isOpen' in client && client.isOpen === false) this.#end()
    })
    client.on('end', () => this.#end())
  }

  run(call: ScriptCall, signal: AbortSignal): Promise<unknown> {
    return runByNodeRedis(this.#client, call, signal)
  }

  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown> {
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

  #end(): void {
    this.#isOver = true
    for (const callback of this.#onEnd.splice(0)) callback()
  }
}
