import type { ClientAdapter, Connection, Scan, ScriptCall } from './connection.js'
import { keySlot } from './key-slot.js'
import { Traffic } from './traffic.js'
import { addressIn } from './transport.js'

/** The common part of all clients of node-redis. */
export interface NodeRedisBase {
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  on(event: string, listener: (...args: unknown[]) => void): unknown
  destroy(): unknown
}

/** The part of a client of node-redis 5 and later (`createClient`) that the store uses. */
export interface NodeRedisClient extends NodeRedisBase {
  readonly options: object
  duplicate(overrides: object): NodeRedisClient
  sendCommand(args: string[], options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>
}

/** The part of a cluster client of node-redis 5 and later (`createCluster`) that the store uses. */
export interface NodeRedisClusterClient extends NodeRedisBase {
  readonly slots: readonly { readonly master: { readonly address: string } }[]
  readonly masters: readonly object[]
  nodeClient(node: never): Promise<unknown>
  duplicate(overrides: object): NodeRedisClusterClient
  sendCommand(
    firstKey: string | undefined,
    isReadonly: boolean | undefined,
    args: string[],
    options?: { readonly abortSignal?: AbortSignal },
  ): Promise<unknown>
}

/** The part of a Sentinel client of node-redis 5 and later (`createSentinel`) that the store uses. */
export interface NodeRedisSentinelClient extends NodeRedisBase {
  getMasterNode(): unknown
  duplicate(overrides: object): NodeRedisSentinelClient
  sendCommand(
    isReadonly: boolean | undefined,
    args: string[],
    options?: { readonly abortSignal?: AbortSignal },
  ): Promise<unknown>
}

/** How long one node may take to return the slots, in milliseconds; then the client asks another one. */
const DISCOVERY_TIMEOUT = 1_000

type NodeRedisLike = NodeRedisClient | NodeRedisClusterClient | NodeRedisSentinelClient

export function isNodeRedis(client: object): client is NodeRedisLike {
  return 'duplicate' in client && 'sendCommand' in client
}

export function nodeRedisAdapter(client: NodeRedisLike): ClientAdapter {
  return {
    clustered: isCluster(client),
    subscribes: true,
    keyPrefix: keyPrefixOf(client),
    address:
      isCluster(client) || isSentinel(client) ? undefined : addressIn((client.options as { socket?: object }).socket),
    newConnection: () => new NodeRedisConnection(duplicateOf(client)),
    // The client adds its prefix only to the keys of commands that are methods.
    run: (call, signal) => runScript(client, call, signal),
  }
}

function isCluster(client: NodeRedisLike): client is NodeRedisClusterClient {
  return 'slots' in client
}

function isSentinel(client: NodeRedisLike): client is NodeRedisSentinelClient {
  return 'getMasterNode' in client
}

/** A cluster and a Sentinel client have no public property for the prefix. */
function keyPrefixOf(client: NodeRedisLike): string {
  const { keyPrefix } = ('options' in client ? client.options : {}) as { keyPrefix?: unknown }
  const { _keyPrefix } = client as { _keyPrefix?: unknown }
  return String(keyPrefix ?? _keyPrefix ?? '')
}

/**
 * The client must not queue or repeat commands. It reconnects the nodes of a cluster; one server and a master are
 * reconnected by `LazyConnection`.
 */
function duplicateOf(client: NodeRedisLike): NodeRedisLike {
  const common = { disableOfflineQueue: true, commandOptions: {} }
  if (isCluster(client)) {
    const { defaults, rootNodes = [] } = optionsOf(client)
    return client.duplicate({
      commandOptions: {},
      defaults: { ...defaults, ...common },
      rootNodes: rootNodes.map((node) => ({ ...node, socket: { ...node.socket, socketTimeout: DISCOVERY_TIMEOUT } })),
      // Otherwise the client waits for all nodes before it sends a command to one.
      minimizeConnections: true,
    })
  }
  if (isSentinel(client)) {
    return client.duplicate({
      commandOptions: {},
      // Otherwise the client looks for a master again and again, and repeats commands.
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

function runScript(
  client: NodeRedisLike,
  { command, script, keys, args }: ScriptCall,
  abortSignal: AbortSignal | undefined,
): Promise<unknown> {
  return send(client, keys[0], [command, script, String(keys.length), ...keys, ...args], abortSignal)
}

function send(
  client: NodeRedisLike,
  key: string | undefined,
  words: string[],
  abortSignal?: AbortSignal,
): Promise<unknown> {
  const options = abortSignal === undefined ? {} : { abortSignal }
  if (isCluster(client)) return client.sendCommand(key, false, words, options)
  if (isSentinel(client)) return client.sendCommand(false, words, options)
  return client.sendCommand(words, options)
}

class NodeRedisConnection implements Connection {
  readonly traffic = new Traffic()
  readonly #client: NodeRedisLike
  readonly #onEnd: (() => void)[] = []
  #failure: unknown
  #isOpen = false
  #isOver = false

  constructor(client: NodeRedisLike) {
    this.#client = client
    client.on('error', (error) => {
      this.#failure ??= error
      if (this.#isFatal(error)) this.destroy()
    })
    client.on('end', () => this.#end())
  }

  async connect(): Promise<void> {
    try {
      await this.#client.connect()
      this.#isOpen = true
      // The client may connect although it was ended meanwhile.
      if (this.#isOver) this.destroy()
    } catch (error) {
      // The reason why no node could be reached comes in an event.
      throw this.#failure instanceof Error ? this.#failure : error
    }
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

  run(call: ScriptCall, { signal }: { readonly signal: AbortSignal }): Promise<unknown> {
    return runScript(this.#client, call, signal)
  }

  async scans(): Promise<readonly Scan[]> {
    const client = this.#client
    const servers = isCluster(client)
      ? await Promise.all(
          client.masters.map(async (node) => (await client.nodeClient(node as never)) as NodeRedisClient),
        )
      : [client]
    return servers.map((server) => (cursor, pattern, count) => {
      return send(server, undefined, ['SCAN', cursor, 'MATCH', pattern, 'COUNT', String(count)])
    })
  }

  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown> {
    // A cluster client subscribes again without saying that it missed messages.
    this.#client.on('node-error', () => this.destroy())
    return this.#client.subscribe(channel, onMessage)
  }

  onEnd(callback: () => void): void {
    if (this.#isOver) callback()
    else this.#onEnd.push(callback)
  }

  destroy(): void {
    try {
      // A client that is already closed throws or rejects.
      void Promise.resolve(this.#client.destroy()).catch(() => {})
    } catch {
      // It is closed, as it should be.
    }
    this.#end()
  }

  /**
   * The client does not reconnect to one server, and another server may have become the master. An error of one Sentinel
   * does not matter: there are others.
   */
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
