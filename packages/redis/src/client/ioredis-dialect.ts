import { Command } from 'ioredis'
import type { Connection, Dialect, ScriptCall } from './connection.js'
import { keySlot } from './key-slot.js'
import type { IoRedisClient, IoRedisClusterClient, IoRedisNode } from './redis-client.js'
import { Traffic } from './traffic.js'

/** Nothing is queued, repeated or reconnected by the client: what fails is told, and is then tried anew from here. */
const alone = {
  lazyConnect: true,
  // What the server cannot do is told by the calls.
  enableReadyCheck: false,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  enableAutoPipelining: false,
  commandTimeout: undefined,
  socketTimeout: undefined,
  // How long the farewell to a server may take: one that is frozen says none.
  disconnectTimeout: 50,
  reconnectOnError: null,
  retryStrategy: null,
  readOnly: false,
  keyPrefix: '',
}

/** In a cluster a command is passed on where a node says so (MOVED, ASK), and not repeated otherwise. */
const aloneInCluster = {
  lazyConnect: true,
  enableOfflineQueue: false,
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

/** For connections as the given client of ioredis has them. */
export function ioredisDialect(client: IoRedisClient | IoRedisClusterClient): Dialect {
  const clustered = isCluster(client)
  return {
    clustered,
    keyPrefix: keyPrefixOf(client),
    open: (signal) =>
      isCluster(client)
        ? openConnection(client.duplicate([], aloneInCluster), (cluster) => new ClusterConnection(cluster), signal)
        : openConnection(client.duplicate(optionsFor(client)), (single) => new IoRedisConnection(single), signal),
  }
}

/**
 * Whether what the sentinels call the master is one, is seen by the ready check. That there is another is told by them: the
 * one before may go on for seconds, and what it is told then is lost.
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

const never = new AbortController().signal

type Duplicate = Pick<IoRedisClient, 'connect' | 'evalsha' | 'eval' | 'subscribe' | 'on' | 'disconnect'>

async function openConnection<T extends Duplicate>(
  client: T,
  toConnection: (client: T) => Connection,
  signal: AbortSignal,
): Promise<Connection> {
  // The client tells why in an event, and rejects with no more than that it is closed.
  const failures: unknown[] = []
  client.on('error', (error) => void failures.push(error))
  const onAbort = (): void => client.disconnect()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await client.connect()
    return toConnection(client)
  } catch (error) {
    client.disconnect()
    throw causeOf(failures[0] ?? error)
  } finally {
    signal.removeEventListener('abort', onAbort)
    failures.length = 0
  }
}

/** Why no node of a cluster could be asked is told by the last of them. */
function causeOf(failure: unknown): unknown {
  return (failure as { lastNodeError?: unknown }).lastNodeError ?? failure
}

function runByIoRedis(
  client: Pick<IoRedisClient, 'eval' | 'evalsha'>,
  { command, script, keys, args }: ScriptCall,
): Promise<unknown> {
  if (command === 'EVAL') return client.eval(script, keys.length, ...keys, ...args)
  return client.evalsha(script, keys.length, ...keys, ...args)
}

/** Also where the client has a prefix, which its methods put before all keys. */
export function runUnprefixedByIoRedis(
  client: IoRedisClient | IoRedisClusterClient,
  call: ScriptCall,
): Promise<unknown> {
  if (keyPrefixOf(client) === '') return runByIoRedis(client, call)
  const { command, script, keys, args } = call
  const words = [script, String(keys.length), ...keys, ...args]
  return client.sendCommand(new Command(command.toLowerCase(), words, { replyEncoding: 'utf8' })) as Promise<unknown>
}

class IoRedisConnection implements Connection {
  readonly takesBack = false
  readonly traffic = new Traffic()
  readonly #client: Duplicate
  #isOver = false
  #isDestroyed = false

  constructor(client: Duplicate) {
    this.#client = client
    client.on('end', () => {
      this.#isOver = true
    })
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

  /** Once: each time that it is disconnected, the client adds a listener to its socket. */
  destroy(): void {
    if (this.#isDestroyed) return
    this.#isDestroyed = true
    this.#client.disconnect()
  }
}

class ClusterConnection extends IoRedisConnection {
  readonly #cluster: IoRedisClusterClient
  #subscriber: IoRedisClient | undefined
  readonly #opening = new Map<IoRedisNode, Promise<void>>()

  constructor(cluster: IoRedisClusterClient) {
    super(cluster)
    this.#cluster = cluster
  }

  /** By a connection to one of the nodes: that of the cluster client is made anew without a word of what was missed. */
  override async subscribe(channel: string, onMessage: (message: string) => void): Promise<void> {
    const nodes = this.#cluster.nodes('master')
    const node = nodes[Math.floor(Math.random() * nodes.length)]
    if (node === undefined) throw new Error('no node of the cluster is known')
    const client = node.duplicate(alone)
    this.#subscriber = client
    const subscriber = await openConnection(client, (single) => new IoRedisConnection(single), never)
    subscriber.onEnd(() => this.destroy())
    await subscriber.subscribe(channel, onMessage)
  }

  override destroy(): void {
    this.#subscriber?.disconnect()
    this.#subscriber = undefined
    super.destroy()
  }

  override nodeOf(key: string): string {
    return this.#cluster.slots[keySlot(key)]?.[0] ?? ''
  }

  /** The client would keep a command for a node that is not ready, however long that takes, and send it then. */
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

/** A node that the client is connecting to anyway. */
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
