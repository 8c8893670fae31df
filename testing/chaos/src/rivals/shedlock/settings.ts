/** What a client process of ShedLock's algorithm gets. Durations are milliseconds. */
export interface ShedlockSettings {
  /** Of its own proxy, in front of the server with the locks. */
  readonly port: number
  /** Of the server itself, for the register. */
  readonly registerPort: number
  readonly user: string
  readonly database: string
  readonly lockedBy: string
  readonly lockAtMostFor: number
  /** Never extended unless given. */
  readonly keepAlive?: number
  readonly operationTimeout: number
  /** Whose time decides. */
  readonly time: 'client' | 'database'
  /** Whether the wall clock of a client is that of the machine, as ShedLock wants it, or one that is wrong and is set. */
  readonly clocks: 'synchronised' | 'wrong'
}
