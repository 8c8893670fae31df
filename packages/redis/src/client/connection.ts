import type { Traffic } from './traffic.js'
import type { Address } from './transport.js'

/** A call of a script, by its text or by its hash. */
export interface ScriptCall {
  readonly command: 'EVAL' | 'EVALSHA'
  /** The text or the hash. */
  readonly script: string
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

/** One SCAN at one server. */
export type Scan = (cursor: string, pattern: string, count: number) => Promise<unknown>

/** A connection that never comes back after its end. In a cluster it consists of one connection to each node. */
export interface Connection {
  readonly traffic: Traffic
  /** Whether the first script goes by its text, because the client logs the answer that the server does not know the hash. */
  readonly isTextFirst?: boolean
  /** Must be called once, before all others. Rejects with the reason why no server could be reached. */
  connect(): Promise<void>
  /** The node of a cluster that has the key; the same for all keys if there is one server. */
  nodeOf(key: string): string
  /** Connects to the node that has the key, if that takes time. Rejects if there is no such node. */
  prepare(key: string): Promise<unknown> | undefined
  /** Reads the signal only if the client may send or repeat an abandoned call later. */
  run(call: ScriptCall, attempt: { readonly signal: AbortSignal }): Promise<unknown>
  /** One for each server that has keys: in a cluster for each master. */
  scans(): Promise<readonly Scan[]>
  /** Must be called once for a connection, and not if the client cannot subscribe. */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>
  /** Calls back when the connection has ended; at once if it already has. */
  onEnd(callback: () => void): void
  /** Also ends an attempt to connect, which then may never settle. Has no effect the second time. */
  destroy(): void
}

/**
 * All that the store needs of a client library: it makes connections with the options of a given client, and runs scripts
 * over that client itself.
 */
export interface ClientAdapter {
  /** Whether keys are spread over nodes. */
  readonly clustered: boolean
  /** Whether its connections can subscribe. Otherwise waiters ask again and again. */
  readonly subscribes: boolean
  /** The prefix that the client puts before each key. */
  readonly keyPrefix: string
  /** The address of the server, where there is one and the client knows its address. */
  readonly address?: Address | undefined
  newConnection(): Connection
  /** Runs a script over the given client, without its key prefix. The error of a `ServerReply` is its cause. */
  run(call: ScriptCall, signal?: AbortSignal): Promise<unknown>
}
