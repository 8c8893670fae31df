import { Pool, type PoolConfig } from 'pg'

/** Where a server listens on this machine. */
interface Reachable {
  readonly port: number
}

/** The pool of a user, who listens to the errors of its connections, as pg demands. */
export function poolTo({ port }: Reachable, config: PoolConfig = {}): Pool {
  const pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', ...config })
  pool.on('error', () => {})
  return pool
}
