/** What is used of `Redis` of ioredis 5 and later, with or without Sentinels. */
export interface IoRedisClient {
  readonly options: object
  duplicate(overrides: object): IoRedisClient
  connect(): Promise<void>
  evalsha(sha: string, numberOfKeys: number, ...args: string[]): Promise<unknown>
  eval(script: string, numberOfKeys: number, ...args: string[]): Promise<unknown>
  sendCommand(command: object): unknown
  subscribe(channel: string): Promise<unknown>
  on(event: string, listener: (...args: unknown[]) => void): unknown
  disconnect(): void
}

/** A node of a cluster, as ioredis has it. */
export interface IoRedisNode extends IoRedisClient {
  readonly options: { readonly host?: string | undefined; readonly port?: number | undefined }
  readonly status: string
  once(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
}

/** What is used of `Cluster` of ioredis 5 and later. */
export interface IoRedisClusterClient extends Omit<IoRedisClient, 'duplicate'> {
  readonly isCluster: boolean
  /** Of each slot, its nodes as `host:port`, the master first. */
  readonly slots: readonly (readonly string[])[]
  nodes(role?: 'master'): readonly IoRedisNode[]
  duplicate(startupNodes: never[], overrides: object): IoRedisClusterClient
}

/** What all clients of node-redis have in common. */
export interface NodeRedisBase {
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  on(event: string, listener: (...args: unknown[]) => void): unknown
  destroy(): unknown
}

/** What is used of a client of node-redis 5 and later: `createClient`. */
export interface NodeRedisClient extends NodeRedisBase {
  readonly options: object
  duplicate(overrides: object): NodeRedisClient
  sendCommand(args: string[], options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>
}

/** What is used of a cluster client of node-redis 5 and later: `createCluster`. */
export interface NodeRedisClusterClient extends NodeRedisBase {
  readonly slots: readonly { readonly master: { readonly address: string } }[]
  nodeClient(node: never): Promise<unknown>
  duplicate(overrides: object): NodeRedisClusterClient
  sendCommand(
    firstKey: string | undefined,
    isReadonly: boolean | undefined,
    args: string[],
    options?: { readonly abortSignal?: AbortSignal },
  ): Promise<unknown>
}

/** What is used of a Sentinel client of node-redis 5 and later: `createSentinel`. */
export interface NodeRedisSentinelClient extends NodeRedisBase {
  getMasterNode(): unknown
  duplicate(overrides: object): NodeRedisSentinelClient
  sendCommand(
    isReadonly: boolean | undefined,
    args: string[],
    options?: { readonly abortSignal?: AbortSignal },
  ): Promise<unknown>
}

/** A client that the caller has: ioredis or node-redis, for one server, Sentinel or Cluster. */
export type RedisClient =
  | IoRedisClient
  | IoRedisClusterClient
  | NodeRedisClient
  | NodeRedisClusterClient
  | NodeRedisSentinelClient
