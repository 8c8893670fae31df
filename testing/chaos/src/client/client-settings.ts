/** What a client process is started with. Durations are milliseconds; instants are those of the machine. */
export interface ClientSettings {
  readonly client: number
  readonly life: number
  readonly clients: number
  readonly names: readonly string[]
  readonly seed: number
  readonly timeouts: {
    readonly ttl: number
    readonly heartbeatInterval: number
    readonly operationTimeout: number
  }
  /** The pauses between the calls of a holder are multiplied by this. */
  readonly pace: number
  /** By how much its clock is faster than that of the machine: 1.003. */
  readonly rate: number
  /** By how much its wall clock is ahead. */
  readonly wallLead: number
  /** When it has to end. */
  readonly until: number
  /** The file of its record. */
  readonly record: string
  /** From `RunningSystem.settingsFor`. */
  readonly system: unknown
}
