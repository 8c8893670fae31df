import type { Traffic } from './traffic.js'

/** A call of a script, by its text or by its hash. */
export interface ScriptCall {
  readonly command: 'EVAL' | 'EVALSHA'
  /** The text or the hash. */
  readonly script: string
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

/** A connection that is ready, until it ends; it never comes back. In a cluster it is one to each node. */
export interface Connection {
  readonly traffic: Traffic
  /** Which node of a cluster is asked for a key; the same for all where there is one server. */
  nodeOf(key: string): string
  /** Opens the way to the node that has the key, where that takes time; rejects where there is none. */
  prepare(key: string): Promise<unknown> | undefined
  /** Whether a call that nobody waits for any more has to be taken back, or it might be sent or repeated later. */
  readonly takesBack: boolean
  run(call: ScriptCall, signal?: AbortSignal): Promise<unknown>
  /** To be asked once a connection. */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>
  /** Calls back when the connection has ended, whoever ended it; at once where it has. */
  onEnd(callback: () => void): void
  /** May be called again and again. */
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
