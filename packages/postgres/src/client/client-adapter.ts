import type { StoreCall } from '@leasehold/core/store'
import { wrong } from '../postgres-options.js'
import { pgClientAdapter, pgPoolAdapter } from './pg-adapter.js'
import type { PgClient, PgPool, PostgresClient, PostgresJs } from './postgres-client.js'
import { postgresJsAdapter } from './postgres-js-adapter.js'

/** Notifications of the server over a connection of their own. */
export interface Subscription {
  /** Resolves if the connection is alive. */
  ping(): Promise<unknown>
  close(): void
}

export interface SubscriptionEvents {
  readonly onMessage: (message: string) => void
  /** Messages may have been lost, and come again from now on. */
  readonly onGap: () => void
  /** The connection has ended. */
  readonly onEnd: () => void
}

/** A client library as the store uses it. */
export interface ClientAdapter {
  /**
   * Sends one statement without parameters, in one round trip. Resolves with its rows. Rejects with the reason of the abort
   * when the call is aborted, and then leaves no connection busy if the library allows that.
   */
  run(sql: string, call: StoreCall): Promise<readonly unknown[]>
  /** Absent where there is no way to a connection of its own. */
  listen?(channel: string, events: SubscriptionEvents, call: StoreCall): Promise<Subscription>
}

/** Throws a `LeaseConfigurationError` if the value is not a client of a supported library. */
export function adapterFor(client: PostgresClient): ClientAdapter {
  const kind = typeof client
  if ((kind === 'object' || kind === 'function') && client !== null) {
    if ('unsafe' in client && 'listen' in client) return postgresJsAdapter(client as PostgresJs)
    if ('query' in client && 'connect' in client) {
      return 'totalCount' in client ? pgPoolAdapter(client as PgPool) : pgClientAdapter(client as PgClient)
    }
  }
  throw wrong('the client is not supported: pass a Pool or a connected Client of pg, or sql of postgres.js')
}
