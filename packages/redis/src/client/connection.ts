/** A call of a script, by its text or by its hash. */
export interface ScriptCall {
  readonly command: 'EVAL' | 'EVALSHA'
  /** The text or the hash. */
  readonly script: string
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

/** A connection that is ready, until it ends; it never comes back. */
export interface Connection {
  /** Ends when nobody waits for the answer any more: a client that repeats commands then repeats it no more. */
  run(call: ScriptCall, signal: AbortSignal): Promise<unknown>
  /** To be asked once a connection. */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>
  /** Calls back when the connection has ended, whoever ended it; at once where it has. */
  onEnd(callback: () => void): void
  destroy(): void
}

/** How connections like that of a given client are made. */
export interface Dialect {
  /** Whether keys are spread over nodes. */
  readonly clustered: boolean
  /** What the client would put before each key. */
  readonly keyPrefix: string
  /** Rejects where there is no connection. Whoever gives it up aborts `signal`. */
  open(signal: AbortSignal): Promise<Connection>
}
