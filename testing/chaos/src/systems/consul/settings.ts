/** What a client process of Consul gets: the addresses of its own ways. */
export interface ConsulClientSettings {
  readonly addresses: readonly string[]
  readonly operationTimeout: number
}
