import type { ClientAdapter, Connection, Scan, ScriptCall } from './connection.js'
import { keySlot } from './key-slot.js'
import { Traffic } from './traffic.js'
import { addressIn } from './transport.js'

/** The part of `Redis` of ioredis 5 and later, and of iovalkey, that the store uses, with or without Sentinels. */
export interface IoRedisClient {
  readonly options: object
  duplicate(overrides: object): IoRedisClient
  connect(): Promise<void>
  evalsha(sha: string, numberOfKeys: number, ...args: string[]): Promise<unknown>
  eval(script: string, numberOfKeys: number, ...args: string[]): Promise<unknown>
  scan(cursor: string, match: 'MATCH', pattern: string, token: 'COUNT', count: number): Promise<unknown>
  sendCommand(command: object): unknown
  subscribe(channel: string): Promise<unknown>
  on(event: string, listener: (...args: unknown[]) => void): unknown
  disconnect(): void
}

/** A node of a cluster of ioredis or iovalkey. */
export interface IoRedisNode extends IoRedisClient {
  readonly options: { readonly host?: string | undefined; readonly port?: number | undefined }
  readonly status: string
  asking(): Promise<unknown>
  once(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
}

/** The part of `Cluster` of ioredis 5 and later, and of iovalkey, that the store uses. */
export interface IoRedisClusterClient extends Omit<IoRedisClient, 'duplicate'> {
  on(event: '+node', listener: (node: IoRedisNode) => void): unknown
  on(event: string, listener: (...args: unknown[]) => void): unknown
  readonly isCluster: boolean
  /** The nodes of each slot as `host:port`, the master first. */
  readonly slots: readonly (readonly string[])[]
  nodes(role?: 'master'): readonly IoRedisNode[]
  duplicate(startupNodes: never[], overrides: object): IoRedisClusterClient
}

/** The client must not queue, repeat or reconnect: the engine decides what is safe to repeat. */
const alone = {
  lazyConnect: true,
  // A server that cannot serve answers the calls with an error.
  enableReadyCheck: false,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  enableAutoPipelining: false,
  commandTimeout: undefined,
  socketTimeout: undefined,
  // A frozen server does not close its side.
  disconnectTimeout: 50,
  reconnectOnError: null,
  retryStrategy: null,
  readOnly: false,
  keyPrefix: '',
}

/** The client follows MOVED and ASK, and repeats nothing else. */
const aloneInCluster = {
  lazyConnect: true,
  // Without it, the client rejects a command that is redirected to a node while it connects to that node.
  enableOfflineQueue: true,
  enableAutoPipelining: false,
  enableReadyCheck: false,
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  retryDelayOnTryAgain: 0,
  clusterRetryStrategy: null,
  scaleReads: 'master',
  keyPrefix: '',
  redisOptions: { ...alone, lazyConnect: undefined, enableOfflineQueue: undefined, retryStrategy: undefined },
}

export function isIoRedis(client: object): client is IoRedisClient | IoRedisClusterClient {
  return 'duplicate' in client && 'evalsha' in client && 'disconnect' in client && !('isReady' in client)
}

export function ioredisAdapter(client: IoRedisClient | IoRedisClusterClient, random: () => number): ClientAdapter {
  return {
    clustered: isCluster(client),
    subscribes: true,
    keyPrefix: keyPrefixOf(client),
    address: isCluster(client) ? undefined : addressIn(client.options),
    newConnection: () =>
      isCluster(client)
        ? new ClusterConnection(client.duplicate([], aloneInCluster), random)
        : new IoRedisConnection(client.duplicate(optionsFor(client))),
    run: (call) => runUnprefixed(client, call),
  }
}

/**
 * The ready check rejects a server that is not a master, although the Sentinels name it as one. The failover detector
 * leaves a master that was replaced: that master may go on for seconds, and all writes of that time are lost.
 */
function optionsFor({ options }: IoRedisClient): object {
  const { sentinels } = options as { sentinels?: unknown }
  return sentinels ? { ...alone, enableReadyCheck: true, failoverDetector: true } : alone
}

function isCluster(client: IoRedisClient | IoRedisClusterClient): client is IoRedisClusterClient {
  return 'isCluster' in client && client.isCluster
}

function keyPrefixOf({ options }: IoRedisClient | IoRedisClusterClient): string {
  const { keyPrefix, redisOptions } = options as { keyPrefix?: string; redisOptions?: { keyPrefix?: string } }
  return keyPrefix ?? redisOptions?.keyPrefix ?? ''
}

type Duplicate = Pick<IoRedisClient, 'connect' | 'evalsha' | 'eval' | 'scan' | 'subscribe' | 'on' | 'disconnect'>

function runByIoRedis(
  client: Pick<IoRedisClient, 'eval' | 'evalsha'>,
  { command, script, keys, args }: ScriptCall,
): Promise<unknown> {
  if (command === 'EVAL') return client.eval(script, keys.length, ...keys, ...args)
  return client.evalsha(script, keys.length, ...keys, ...args)
}

/**
 * The methods of a client add its prefix to all keys. They make the command from the options, and send it by `sendCommand`:
 * with other options, they make it without the prefix.
 */
async function runUnprefixed(client: IoRedisClient | IoRedisClusterClient, call: ScriptCall): Promise<unknown> {
  if (keyPrefixOf(client) === '') return await runByIoRedis(client, call)
  const { command, script, keys, args } = call
  const method = command === 'EVAL' ? client.eval : client.evalsha
  const plain = {
    options: { ...client.options, keyPrefix: '', enableAutoPipelining: false },
    sendCommand: (made: object) => client.sendCommand(made),
  }
  return await method.call(plain, script, keys.length, ...keys, ...args)
}

function scanOf(client: Pick<IoRedisClient, 'scan'>): Scan {
  return (cursor, pattern, count) => client.scan(cursor, 'MATCH', pattern, 'COUNT', count)
}

class IoRedisConnection implements Connection {
  readonly traffic = new Traffic()
  readonly #client: Duplicate
  #failure: unknown
  #isOver = false
  #isDestroyed = false

  constructor(client: Duplicate) {
    this.#client = client
    client.on('end', () => {
      this.#isOver = true
    })
    client.on('error', (error) => {
      this.#failure ??= error
    })
  }

  async connect(): Promise<void> {
    try {
      await this.#client.connect()
      // A cluster client may connect although it was ended meanwhile.
      if (this.#isDestroyed) this.#client.disconnect()
    } catch (error) {
      // The client rejects only with 'closed'; the reason comes in an event. In a cluster, the error of the last node says why.
      const failure = this.#failure ?? error
      throw (failure as { lastNodeError?: unknown }).lastNodeError ?? failure
    }
  }

  nodeOf(_key: string): string {
    return ''
  }

  prepare(_key: string): Promise<unknown> | undefined {
    return undefined
  }

  run(call: ScriptCall): Promise<unknown> {
    return runByIoRedis(this.#client, call)
  }

  scans(): Promise<readonly Scan[]> {
    return Promise.resolve([scanOf(this.#client)])
  }

  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown> {
    this.#client.on('message', (from, message) => {
      if (from === channel) onMessage(String(message))
    })
    return this.#client.subscribe(channel)
  }

  onEnd(callback: () => void): void {
    if (this.#isOver) callback()
    else this.#client.on('end', callback)
  }

  /** Ends the connection, but only once: each `disconnect` of the client adds a listener to its socket. */
  destroy(): void {
    if (this.#isDestroyed) return
    this.#isDestroyed = true
    this.#client.disconnect()
  }
}

class ClusterConnection extends IoRedisConnection {
  readonly #cluster: IoRedisClusterClient
  readonly #random: () => number
  #subscriber: Connection | undefined
  readonly #opening = new Map<IoRedisNode, Promise<void>>()

  constructor(cluster: IoRedisClusterClient, random: () => number) {
    super(cluster)
    this.#cluster = cluster
    this.#random = random
    cluster.on('+node', handleAsking)
  }

  /** Subscribes at one node: the cluster client would subscribe again without saying that it missed messages. */
  override async subscribe(channel: string, onMessage: (message: string) => void): Promise<void> {
    const nodes = this.#cluster.nodes('master')
    const node = nodes[Math.floor(this.#random() * nodes.length)]
    if (node === undefined) throw new Error('no node of the cluster is known')
    const subscriber = new IoRedisConnection(node.duplicate(alone))
    this.#subscriber = subscriber
    await subscriber.connect()
    subscriber.onEnd(() => this.destroy())
    await subscriber.subscribe(channel, onMessage)
  }

  override scans(): Promise<readonly Scan[]> {
    return Promise.resolve(this.#cluster.nodes('master').map(scanOf))
  }

  override destroy(): void {
    this.#subscriber?.destroy()
    super.destroy()
  }

  override nodeOf(key: string): string {
    return this.#cluster.slots[keySlot(key)]?.[0] ?? ''
  }

  /** The client would queue a command for a node that is not ready, without a limit, and send it later. */
  override prepare(key: string): Promise<unknown> | undefined {
    const address = this.nodeOf(key)
    const node = this.#cluster.nodes('master').find(({ options }) => `${options.host}:${options.port}` === address)
    if (node === undefined || node.status === 'ready') return undefined
    let opening = this.#opening.get(node)
    if (opening === undefined) {
      opening = (node.status === 'wait' ? node.connect() : ready(node, address)).finally(() =>
        this.#opening.delete(node),
      )
      this.#opening.set(node, opening)
    }
    return opening
  }
}

/**
 * Before a command that a node redirects with ASK, the cluster client sends ASKING, and leaves its promise alone. The
 * rejection would end the process when the connection closes; the command itself is rejected then too.
 */
function handleAsking(node: IoRedisNode): void {
  const asking = node.asking.bind(node)
  node.asking = () => asking().catch(() => {})
}

/** Waits for a node that the client already connects to. */
function ready(node: IoRedisNode, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => (): void => {
      node.off('ready', onReady)
      node.off('end', onEnd)
      settle()
    }
    const onReady = end(resolve)
    const onEnd = end(() => reject(new Error(`there is no connection to ${address}`)))
    node.once('ready', onReady)
    node.once('end', onEnd)
  })
}
