import { misconfigured } from '../postgres-options.js'
import type { ClientAdapter } from './connection.js'
import { pgClientAdapter, pgPoolAdapter } from './pg-adapter.js'
import type { PgClient, PgPool, PostgresClient, PostgresJs } from './postgres-client.js'
import { postgresJsAdapter } from './postgres-js-adapter.js'

/** Throws a `LeaseConfigurationError` if the value is not a client of a supported library. */
export function adapterFor(client: PostgresClient): ClientAdapter {
  // A null or a primitive has no methods.
  const given: object = Object(client)
  if ('unsafe' in given && 'listen' in given) return postgresJsAdapter(client as PostgresJs)
  if ('query' in given && 'connect' in given) {
    return 'totalCount' in given ? pgPoolAdapter(client as PgPool) : pgClientAdapter(client as PgClient)
  }
  throw misconfigured('the client is not supported: pass a Pool or a connected Client of pg, or sql of postgres.js')
}
