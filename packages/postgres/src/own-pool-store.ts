import { rootCertificates } from 'node:tls'
import { poolSizeOf, SQL_POOL_TIMEOUT } from '@leasehold/core/sql-kit'
import { type OpenContext, readOptionFile } from '@leasehold/core/store-kit'
import pg from 'pg'
import { PostgresLeaseStore } from './postgres-lease-store.js'
import { misconfigured, type PostgresOptions } from './postgres-options.js'

/** A store over a pool that it opens itself, and closes with itself. */
export class OwnPoolStore extends PostgresLeaseStore {
  readonly #pools: readonly pg.Pool[]

  constructor(options: PostgresOptions, { clock, random }: Pick<OpenContext, 'clock' | 'random'>) {
    const { url, listen = true, listenUrl, schema, table, compat } = options
    const poolSize = poolSizeOf(misconfigured, options.poolSize)
    if (!listen && listenUrl !== undefined) throw misconfigured('listen-url needs listen = on: remove one of them')
    const pool = openPool('url', url, options, poolSize)
    // This pool opens no connection: the store only takes its settings.
    const listening = listenUrl === undefined ? undefined : openPool('listen-url', listenUrl, options, 1)
    super(pool, { schema, table, compat, clock, random, listen: listen && (listening ?? pool) })
    this.#pools = listening === undefined ? [pool] : [pool, listening]
  }

  override async close(): Promise<void> {
    await super.close()
    for (const pool of this.#pools) if (!pool.ended) await pool.end()
  }
}

function openPool(key: string, url: string | undefined, options: PostgresOptions, max: number): pg.Pool {
  if (url !== undefined) checkUrl(key, url)
  const { password, caFile } = options
  const pool = new pg.Pool({
    max,
    connectionTimeoutMillis: SQL_POOL_TIMEOUT,
    keepAlive: true,
    application_name: 'leasehold',
    ...(url === undefined ? { password } : { connectionString: completed(url, options) }),
    ...(caFile === undefined
      ? {}
      : { ssl: { ca: [...rootCertificates, readOptionFile('ca-file', caFile, 'postgres')] } }),
  })
  // The next operation opens another connection, and reports why it cannot.
  pool.on('error', () => {})
  return pool
}

/** The error must not show the URL: it may have a password in it. */
function checkUrl(key: string, url: string): void {
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return
  throw misconfigured(`${key} must be like postgres://[user[:password]@]host[:port]/database`)
}

/** Completes a URL: in pg, it replaces the options beside it, also those that it does not have. */
function completed(url: string, { password, caFile }: PostgresOptions): string {
  const parsed = new URL(url)
  if (parsed.password === '' && password !== undefined) parsed.password = encodeURIComponent(password)
  if (caFile !== undefined) parsed.searchParams.delete('sslmode')
  return parsed.href
}
