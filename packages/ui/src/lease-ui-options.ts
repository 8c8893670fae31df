import type { Clock, Logger } from '@leasehold/core'

/** The rights of a reader of the page: to look, or also to break leases and control schedules. */
export type UiAccess = 'read' | 'write'

/** A request as `authorize` sees it, for servers of both kinds. */
export interface UiRequest {
  readonly method: string
  /** The path and the query, as the server got them. */
  readonly url: string
  /** The value of a header; `undefined` if there is none. Names are in any case. */
  header(name: string): string | undefined
  /** The request of the server: an `IncomingMessage` of `node:http`, or a `Request` of the Fetch API. */
  readonly original: object
}

/** A reader of the page. */
export interface UiUser {
  readonly access: UiAccess
  /** Stands in the records that this person changes, such as the pause of a schedule. */
  readonly name?: string | undefined
}

export interface LeaseUiOptions {
  /** The path at which the page is mounted, such as `/leases`. `/` unless given. */
  readonly path?: string | undefined
  /**
   * The access token: at least 16 characters. The page takes it from the part of its address after `#token=`, which no server
   * and no log sees, or asks for it. Either this or `authorize` is required.
   */
  readonly token?: string | undefined
  /** Asks the authentication of the host about each request. `undefined`: it is refused, with the status 401. */
  readonly authorize?: ((request: UiRequest) => UiUser | undefined | Promise<UiUser | undefined>) | undefined
  /**
   * With `authorize`: the same random text of 16 characters or more in all processes that a load balancer chooses from. A page
   * gets what its changes need from one process, and sends its changes to any of them. Unless given, each process accepts only
   * its own pages.
   */
  readonly secret?: string | undefined
  /** Whether those with the token may break leases and control schedules: `false` unless given. */
  readonly writable?: boolean | undefined
  /** The page shows only the names that begin with this text. */
  readonly prefix?: string | undefined
  /** Stands at the top of the page; the kind of the store unless given. */
  readonly title?: string | undefined
  /** How often the store is listed while somebody looks, in milliseconds: 1,000 unless given. */
  readonly interval?: number | undefined
  /** For how long the timeline goes back, in milliseconds: 6 hours unless given. */
  readonly historyFor?: number | undefined
  /** How many pages can be open at a time: 100 unless given. */
  readonly maxStreams?: number | undefined
  /** The time limit of each call to the store, in milliseconds; 5,000 unless given. */
  readonly timeout?: number | undefined
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
}
