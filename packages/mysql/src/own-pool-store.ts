import { rootCertificates } from 'node:tls'
import { poolSizeOf, SQL_POOL_TIMEOUT } from '@leasehold/core/sql-kit'
import { type OpenContext, readOptionFile } from '@leasehold/core/store-kit'
import { createPool, type Pool, type PoolOptions } from 'mysql2/promise'
import { MysqlLeaseStore } from './mysql-lease-store.js'
import { type MysqlOptions, misconfigured } from './mysql-options.js'

/** A store over a pool that it opens itself, and closes with itself. */
export class OwnPoolStore extends MysqlLeaseStore {
  readonly #pool: Pool
  #isEnded = false

  constructor(options: MysqlOptions, { clock, random }: Pick<OpenContext, 'clock' | 'random'>) {
    const { database, table } = options
    const pool = createPool(poolOptions(options))
    super(pool, { database, table, clock, random })
    this.#pool = pool
  }

  override async close(): Promise<void> {
    await super.close()
    if (this.#isEnded) return
    this.#isEnded = true
    await this.#pool.end()
  }
}

function poolOptions(options: MysqlOptions): PoolOptions {
  const { url = 'mysql://localhost', caFile } = options
  const { hostname, port, username, password, pathname, protocol, searchParams } = parsed(url)
  const database = decodeURIComponent(pathname.slice(1)) || options.database
  const secret = decodeURIComponent(password) || options.password
  const isSecured = protocol === 'mysqls:' || caFile !== undefined
  if ([...searchParams].length > 0)
    throw misconfigured('the url has parameters after ?: give the other options instead')
  return {
    host: hostname.replace(/^\[|\]$/g, '') || 'localhost',
    port: Number(port || 3306),
    user: decodeURIComponent(username) || 'root',
    ...(secret !== undefined && { password: secret }),
    ...(database !== undefined && { database }),
    ...(isSecured && {
      ssl: {
        ca:
          caFile === undefined
            ? [...rootCertificates]
            : [...rootCertificates, readOptionFile('ca-file', caFile, 'mysql')],
      },
    }),
    connectionLimit: poolSizeOf(misconfigured, options.poolSize) + 1,
    connectTimeout: SQL_POOL_TIMEOUT,
    enableKeepAlive: true,
    charset: 'utf8mb4_bin',
  } as PoolOptions
}

/** The error must not show the URL: it may have a password in it. */
function parsed(url: string): URL {
  if (/^(mysqls?|mariadb):\/\//.test(url) && URL.canParse(url)) return new URL(url)
  throw misconfigured('url must be like mysql://[user[:password]@]host[:port][/database], or mysqls:// for TLS')
}
