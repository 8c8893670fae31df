import { migrate } from '@leasehold/postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { Pool } from 'pg'
import { safeSettings } from '../../postgres/safe-settings.js'
import { ServerMeter } from '../../postgres/server-meter.js'
import type { StoreServer } from './store-server.js'

/** Of 64 processes, and of the meter. */
const CONNECTIONS = 400

export async function startPostgres(): Promise<StoreServer> {
  const server = await PostgresServer.start({ settings: { ...safeSettings, max_connections: CONNECTIONS } })
  const pool = new Pool({ connectionString: server.url })
  await migrate(pool)
  const { rows } = await pool.query('SHOW server_version')
  await pool.end()
  const meter = new ServerMeter(server.url)
  return {
    address: server.url,
    version: `PostgreSQL ${rows[0].server_version}`,
    commands: 'transactions',
    read: async () => {
      const { cpu, transactions } = await meter.read()
      const at = performance.now()
      const { size, indexes } = await meter.table('leasehold.leases')
      return { cpu, commands: transactions, at, stored: size + indexes }
    },
    stop: async () => {
      await meter.close()
      await server.stop()
    },
  }
}
