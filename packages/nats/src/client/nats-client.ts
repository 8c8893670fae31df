/** The headers of a message, as `headers()` of `@nats-io/transport-node` makes them. */
export interface NatsHeaders {
  /** The status of a message of the server, such as 100 for a heartbeat. */
  readonly code: number
  get(name: string): string
  set(name: string, value: string): void
}

export interface NatsMessage {
  readonly data: Uint8Array
  readonly headers?: NatsHeaders
  readonly reply?: string
  respond(): boolean
}

export interface NatsSubscription {
  unsubscribe(): void
}

export interface NatsRequestOptions {
  /** In milliseconds. */
  timeout: number
  headers?: NatsHeaders
}

export interface NatsStatus {
  /** Such as `disconnect` and `reconnect`. */
  readonly type: string
}

/** What leases use of a connection: `connect()` of `@nats-io/transport-node` resolves with one. */
export interface NatsClient {
  /** A user whose permissions are limited may have another prefix of inboxes than `_INBOX`. */
  readonly options?: { readonly inboxPrefix?: string }
  /** What the server has said about itself; `undefined` while there is no connection. */
  readonly info?: object
  request(subject: string, payload?: string | Uint8Array, options?: NatsRequestOptions): Promise<NatsMessage>
  /** Yields when the connection breaks, and when it is made again. */
  status(): AsyncIterable<NatsStatus>
  publish(subject: string, payload?: string | Uint8Array): void
  subscribe(
    subject: string,
    options?: { callback?: (error: Error | null, message: NatsMessage) => void },
  ): NatsSubscription
  isClosed(): boolean
  drain(): Promise<void>
  closed(): Promise<unknown>
}
