import { wrong } from '../postgres-options.js'
import type { ClientAdapter } from './connection.js'
import { pgClientAdapter, pgPoolAdapter } from './pg-adapter.js'
import type { PgClient, PgPool, PostgresClient, PostgresJs } from './postgres-client.js'
import { postgresJsAdapter } from './postgres-js-adapter.js'

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
