import type { StoreCall } from '@leasehold/core/store'

/** Notifications of the server over a connection of their own. */
export interface Notifications {
  /** Resolves if the connection is alive. */
  ping(): Promise<unknown>
  close(): void
}

export interface NotificationEvents {
  readonly onMessage: (message: string) => void
  /** Messages may have been lost, and come again from now on. */
  readonly onGap: () => void
  /** The connection has ended. */
  readonly onEnd: () => void
}

/** A session of the server, over a connection of its own. */
export interface Session {
  /** The process id of the session, as the other end of the connection told it. */
  readonly pid: number | undefined
  /** Whether the connection has ended, and with it the session. */
  readonly isOver: boolean
  /** Statements take turns. */
  run(sql: string): Promise<readonly unknown[]>
  close(): void
}

export type OpenSession = (call: StoreCall) => Promise<Session>

/** A client library as the store uses it. */
export interface ClientAdapter {
  /** How many connections the client opens at most, where it says so. */
  readonly connections?: number | undefined
  /**
   * Sends one statement without parameters, in one round trip. Resolves with its rows. Rejects with the reason of the abort
   * when the call is aborted, and then leaves no connection busy if the library allows that.
   */
  run(sql: string, call: StoreCall): Promise<readonly unknown[]>
  /**
   * Begins a transaction and ends it again, with nothing in it. Absent if that could end a transaction of the user, or if the
   * library hides its connections.
   */
  tryTransaction?(call: StoreCall): Promise<void>
  /** Absent if the client cannot open a connection of its own for notifications. */
  listen?(channel: string, events: NotificationEvents, call: StoreCall): Promise<Notifications>
  /** Absent if the client cannot open a connection of its own. */
  readonly openSession?: OpenSession
}
