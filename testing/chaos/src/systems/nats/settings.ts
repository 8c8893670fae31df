/** The bucket of the guarded registers. */
export const REGISTERS = 'registers'

/** What a client process of NATS gets: the addresses of its own ways. */
export interface NatsClientSettings {
  readonly servers: readonly string[]
  readonly operationTimeout: number
}
