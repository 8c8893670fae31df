/** What a client process of PostgreSQL gets. */
export interface PostgresClientSettings {
  /** Of its own proxy. */
  readonly port: number
  readonly operationTimeout: number
}
