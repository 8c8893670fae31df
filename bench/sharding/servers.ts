import { migrateEntities } from '@leasehold/sharding/postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Pool } from 'pg'
import type { ServerKind } from './access.js'

/** A server with the leases and the entities. */
export interface Server {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
}

export async function startServer(kind: ServerKind): Promise<Server> {
  if (kind === 'redis') return await RedisServer.start({ args: ['--appendonly', 'no', '--save', ''] })
  const server = await PostgresServer.start()
  const pool = new Pool({ connectionString: server.url, max: 1 })
  await migrateEntities(pool)
  await pool.end()
  return server
}
