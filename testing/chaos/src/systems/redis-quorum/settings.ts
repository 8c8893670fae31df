/** What a client process of a quorum of Redis servers gets. */
export interface RedisQuorumClientSettings {
  /** Of its own proxies: of the servers of the leases, in their order. */
  readonly ports: readonly number[]
  /** Of its own proxy of the server of the registers. */
  readonly registerPort: number
  readonly operationTimeout: number
}
