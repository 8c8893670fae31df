/** The counters of a server. */
interface ServerReading {
  /** Processor time in milliseconds; 0 where the clients do the work of a server. */
  readonly cpu: number
  /** How many commands it has executed: see `commands` of {@link StoreServer}. */
  readonly commands: number
  /** When they were read, in milliseconds; by the server's clock where it says that. */
  readonly at: number
  /** Bytes of its records, as the server itself counts them. */
  readonly stored: number
}

/** A server that keeps leases, started on this machine for one measurement. */
export interface StoreServer {
  /** As `openStore` takes it. */
  readonly address: string
  /** The program and its version. */
  readonly version: string
  /** The unit that the server counts its work in, such as `transactions`. */
  readonly commands: string
  read(): Promise<ServerReading>
  stop(): Promise<void>
}
