/** What a client process of the local store gets. */
export interface LocalClientSettings {
  /** Of the leases, and of the guard. */
  readonly leases: string
  /** Of the files that are the registers. */
  readonly registers: string
}
