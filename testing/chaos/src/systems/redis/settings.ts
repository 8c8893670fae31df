/** What a client process of Redis gets. */
export interface RedisClientSettings {
  /** Of its own proxy. */
  readonly port: number
  readonly operationTimeout: number
}
