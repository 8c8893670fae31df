import type { Clock } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import type { OpenSession, Session } from '../client/connection.js'
import { misconfigured } from '../postgres-options.js'

/** How long the connection may take for an answer about a lock whose lease has ended, in milliseconds. */
const SILENCE = 5_000

/** An advisory lock that this process holds. */
interface HeldLock {
  readonly args: string
  readonly session: Session
  cancelEnd: () => void
}

/**
 * The advisory locks of a store, in one session of their own. A session ends with its connection, and with it all of its
 * locks. Locks are counted per session: each grant locks and unlocks once.
 */
export class AdvisorySession {
  readonly #open: OpenSession
  readonly #clock: Clock
  readonly #held = new Map<string, HeldLock>()
  #session: Promise<Session> | undefined
  #isClosed = false

  constructor(open: OpenSession, clock: Clock) {
    this.#open = open
    this.#clock = clock
  }

  /** Whether another session has the lock. */
  async isTaken(args: string, call: StoreCall): Promise<boolean> {
    const session = await this.#opened(call)
    try {
      const [row] = await untilAborted(session.run(takenSql(args)), call)
      return (row as { taken: boolean }).taken
    } catch (error) {
      // A silent connection may never end by itself; the next call opens another one, if no lock depends on this one.
      if (call.aborted && this.#held.size === 0) session.close()
      throw error
    }
  }

  /** Never waits for the lock: see `AdvisoryCompat`. */
  async lock(grantId: string, args: string, ttl: number, call: StoreCall): Promise<boolean> {
    if (this.isHeld(grantId)) {
      this.extend(grantId, ttl)
      return true
    }
    const session = await this.#opened(call)
    const locking = session.run(`select pg_try_advisory_lock(${args}) as locked`).then(([row]) => {
      const { locked } = row as { locked: boolean }
      // Nobody waits for the answer any more, and the grant is taken back.
      if (locked && call.aborted) void session.run(unlockSql(args)).catch(() => {})
      else if (locked) {
        this.#held.set(grantId, { args, session, cancelEnd: () => {} })
        this.extend(grantId, ttl)
      }
      return locked
    })
    return await untilAborted(locking, call)
  }

  /** The lock ends with the validity of its lease, also while the store cannot be reached. */
  extend(grantId: string, ttl: number): void {
    const lock = this.#held.get(grantId)
    if (lock === undefined) return
    lock.cancelEnd()
    if (ttl === Number.POSITIVE_INFINITY) return
    lock.cancelEnd = this.#clock.schedule(ttl, () => {
      // A silent connection may never end by itself.
      const cancel = this.#clock.schedule(SILENCE, () => lock.session.close())
      this.unlock(grantId)
        .catch(() => {})
        .finally(cancel)
    })
  }

  /** Resolves when the lock is free. It is as good as free when its session has ended. */
  async unlock(grantId: string): Promise<void> {
    const lock = this.#held.get(grantId)
    if (lock === undefined) return
    lock.cancelEnd()
    this.#held.delete(grantId)
    if (lock.session.isOver) return
    await lock.session.run(unlockSql(lock.args)).catch((error) => {
      if (!lock.session.isOver) throw error
    })
  }

  isHeld(grantId: string): boolean {
    return this.#held.get(grantId)?.session.isOver === false
  }

  /** Resolves if the sessions of all locks are alive, or known to be over. Rejects while that is unknown. */
  async confirm(call: StoreCall): Promise<void> {
    const sessions = new Set([...this.#held.values()].map(({ session }) => session))
    await Promise.all(
      [...sessions].map(async (session) => {
        if (session.isOver) return
        await untilAborted(session.run('select 1'), call).catch((error) => {
          if (!session.isOver) throw error
        })
      }),
    )
  }

  close(): void {
    this.#isClosed = true
    for (const { cancelEnd, session } of this.#held.values()) {
      cancelEnd()
      session.close()
    }
    this.#held.clear()
    this.#session?.then((session) => session.close()).catch(() => {})
  }

  async #opened(call: StoreCall): Promise<Session> {
    const opening = this.#session
    const current = await opening?.catch(() => undefined)
    if (current?.isOver === false) return current
    if (this.#session === opening) this.#session = this.#connect(call)
    return await untilAborted(this.#session as Promise<Session>, call)
  }

  async #connect(call: StoreCall): Promise<Session> {
    const session = await this.#open(call)
    try {
      const [row] = await untilAborted(session.run('select pg_backend_pid() as pid'), call)
      if ((row as { pid: number }).pid !== session.pid) throw behindPooler()
      if (this.#isClosed) throw new Error('the store is closed')
    } catch (error) {
      session.close()
      throw error
    }
    return session
  }
}

/** A pooler tells its client another process id than that of the server's process. */
function behindPooler(): Error {
  return misconfigured(
    'compat needs a session of the server, and there is a pooler in between, such as a PgBouncer, which may give each ' +
      'statement another session: give the store a pool for listen that leads to the server itself',
  )
}

function unlockSql(args: string): string {
  return `select pg_advisory_unlock(${args})`
}

/** Whether another session has it, in any mode. A key of 64 bits is shown in two halves. */
function takenSql(args: string): string {
  const [first, second] = args.includes('::int, ') ? args.split(', ') : [args, undefined]
  const high = second === undefined ? `(${first} >> 32)` : `${first}::bigint`
  const low = second === undefined ? first : `${second}::bigint`
  return `select exists (select from pg_locks where locktype = 'advisory' and granted and pid <> pg_backend_pid()
    and database = (select oid from pg_database where datname = current_database())
    and classid = (${high} & 4294967295)::oid and objid = (${low} & 4294967295)::oid
    and objsubid = ${second === undefined ? 1 : 2}) as taken`
}
