/** What a client process of Azure Blob Storage gets. */
export interface AzureBlobSettings {
  /** By its own proxy. */
  readonly connectionString: string
  readonly operationTimeout: number
}

/** The containers of the leases and of the registers. */
export const containers = { leases: 'leases', registers: 'registers' } as const
