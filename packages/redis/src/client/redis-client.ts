/** The part of `Redis` of ioredis 5 and later that the store uses, with or without Sentinels. */
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

/** A node of a cluster of ioredis. */
export interface IoRedisNode extends IoRedisClient {
  readonly options: { readonly host?: string | undefined; readonly port?: number | undefined }
  readonly status: string
  asking(): Promise<unknown>
  once(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
}

/** The part of `Cluster` of ioredis 5 and later that the store uses. */
export interface IoRedisClusterClient extends Omit<IoRedisClient, 'duplicate'> {
  on(event: '+node', listener: (node: IoRedisNode) => void): unknown
  on(event: string, listener: (...args: unknown[]) => void): unknown
  readonly isCluster: boolean
  /** The nodes of each slot as `host:port`, the master first. */
  readonly slots: readonly (readonly string[])[]
  nodes(role?: 'master'): readonly IoRedisNode[]
  duplicate(startupNodes: never[], overrides: object): IoRedisClusterClient
}

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

/** A client of ioredis or node-redis, for one server, Sentinel or Cluster. */
export type RedisClient =
  | IoRedisClient
  | IoRedisClusterClient
  | NodeRedisClient
  | NodeRedisClusterClient
  | NodeRedisSentinelClient
