import { Rivals } from '../../support/rivals.js'
import type { Contender } from './contender.js'

export const rivals = new Rivals('postgres')

interface AdvisoryLock {
  default(url: string): (name: string) => {
    lock(): Promise<() => Promise<void>>
    tryLock(): Promise<(() => Promise<void>) | undefined>
  }
}

interface PgMutexLock {
  default: new (options: {
    database: object
    timeout: number
    retryCount: number
  }) => {
    acquireLock(name: string): Promise<true>
    releaseLock(name: string): Promise<boolean>
    end(): Promise<void>
  }
}

/** The most used package for locks on PostgreSQL: it opens a connection for each lock. */
const advisoryLock: Contender = {
  id: 'advisory-lock',
  name: 'advisory-lock',
  ours: false,
  mostWaiters: 100,
  open: async (url) => {
    const createMutex = rivals.load<AdvisoryLock>('advisory-lock').default(url)
    return {
      cycle: (name) => {
        const mutex = createMutex(name)
        return async () => {
          const unlock = await mutex.tryLock()
          if (unlock === undefined) throw new Error(`${name} is held`)
          await unlock()
        }
      },
      hold: (name) => createMutex(name).lock(),
      close: async () => {},
    }
  },
}

/** All locks of an object share one connection, and are the same session's: each waiter needs an object of its own. */
const pgMutexLock: Contender = {
  id: 'pg-mutex-lock',
  name: 'pg-mutex-lock',
  ours: false,
  mostWaiters: 100,
  open: async (url) => {
    const { hostname: host, port, username: user, pathname } = new URL(url)
    const database = { host, port: Number(port), user, database: pathname.slice(1), password: 'none' }
    const PgMutexLock = rivals.load<PgMutexLock>('pg-mutex-lock').default
    const create = () => new PgMutexLock({ database, timeout: 600_000, retryCount: 1 })
    const shared = create()
    return {
      cycle: (name) => async () => {
        await shared.acquireLock(name)
        await shared.releaseLock(name)
      },
      hold: async (name) => {
        const own = create()
        await own.acquireLock(name)
        return async () => {
          await own.releaseLock(name)
          await own.end()
        }
      },
      close: () => shared.end(),
    }
  },
}

/** The packages of the registry, with the versions that are installed. */
export function packageContenders(): readonly Contender[] {
  return [advisoryLock, pgMutexLock].map((contender) => ({
    ...contender,
    name: `${contender.id} ${rivals.versionOf(contender.id) ?? ''}`.trim(),
  }))
}
