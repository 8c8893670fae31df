import { wallTime } from '@leasehold/core/store-kit'
import { Pool } from 'pg'
import type { GuardedRegister, RivalConnection } from '../../systems/system.js'
import { RivalLease } from '../rival-lease.js'
import type { ShedlockSettings } from './settings.js'
import { shedlock } from './shedlock.js'
import { byClientTime, byDatabaseTime } from './statements.js'

/** Contends with ShedLock's algorithm. */
export default function connect(settings: ShedlockSettings): Promise<RivalConnection> {
  const { port, registerPort, user, database, operationTimeout, lockedBy, lockAtMostFor, keepAlive } = settings
  const open = (to: number): Pool => {
    const limits = { connectionTimeoutMillis: operationTimeout, query_timeout: operationTimeout }
    const pool = new Pool({ host: '127.0.0.1', port: to, user, database, max: 4, ...limits })
    // Its queries are rejected, too.
    pool.on('error', () => {})
    return pool
  }
  const [pool, registers] = [open(port), open(registerPort)]
  const statements = settings.time === 'client' ? byClientTime : byDatabaseTime
  return Promise.resolve({
    lease: (name, owner, clock) => {
      const wall = settings.clocks === 'wrong' ? () => clock.wall?.() ?? wallTime() : wallTime
      const tryLock = shedlock({ pool, statements, lockedBy, lockAtMostFor, keepAlive, wall })
      return new RivalLease(tryLock, { name, owner, clock })
    },
    register: (name) => registerOf(registers, name),
    close: async () => {
      await Promise.all([pool.end(), registers.end()])
    },
  })
}

/** Accepts every write: a row of ShedLock has no token that it could compare. */
function registerOf(pool: Pool, name: string): GuardedRegister {
  return {
    write: async (value) => {
      await pool.query(
        'INSERT INTO registers (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2',
        [name, value],
      )
      return 'accepted'
    },
    read: async () => {
      const { rows } = await pool.query<{ value: string }>('SELECT value FROM registers WHERE name = $1', [name])
      return rows[0]?.value
    },
  }
}
