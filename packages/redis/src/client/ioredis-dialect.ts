import type { Connection, Dialect, ScriptCall } from './connection.js'
import type { IoRedisClient, IoRedisClusterClient } from './redis-client.js'

/** Nothing is queued, repeated or reconnected by the client: what fails is told, and is then tried anew from here. */
const alone = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  enableAutoPipelining: false,
  commandTimeout: undefined,
  socketTimeout: undefined,
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
      openConnection(isCluster(client) ? client.duplicate([], aloneInCluster) : client.duplicate(alone), signal),
  }
}

function isCluster(client: IoRedisClient | IoRedisClusterClient): client is IoRedisClusterClient {
  return 'isCluster' in client && client.isCluster
}

function keyPrefixOf({ options }: IoRedisClient | IoRedisClusterClient): string {
  const { keyPrefix, redisOptions } = options as { keyPrefix?: string; redisOptions?: { keyPrefix?: string } }
  return keyPrefix ?? redisOptions?.keyPrefix ?? ''
}

type Duplicate = Pick<IoRedisClient, 'connect' | 'evalsha' | 'eval' | 'subscribe' | 'on' | 'disconnect'>

async function openConnection(client: Duplicate, signal: AbortSignal): Promise<Connection> {
  // The client tells why in an event, and rejects with no more than that it is closed.
  const failures: unknown[] = []
  client.on('error', (error) => void failures.push(error))
  const onAbort = (): void => client.disconnect()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await client.connect()
    return new IoRedisConnection(client)
  } catch (error) {
    client.disconnect()
    throw failures[0] ?? error
  } finally {
    signal.removeEventListener('abort', onAbort)
    failures.length = 0
  }
}

export function runByIoRedis(
  client: Pick<IoRedisClient, 'eval' | 'evalsha'>,
  { command, script, keys, args }: ScriptCall,
): Promise<unknown> {
  if (command === 'EVAL') return client.eval(script, keys.length, ...keys, ...args)
  return client.evalsha(script, keys.length, ...keys, ...args)
}

class IoRedisConnection implements Connection {
  readonly #client: Duplicate
  #isOver = false

  constructor(client: Duplicate) {
    this.#client = client
    client.on('end', () => {
      this.#isOver = true
    })
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

  destroy(): void {
    this.#client.disconnect()
  }
}
