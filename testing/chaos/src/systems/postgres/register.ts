import type { PostgresGuard } from '@leasehold/postgres'
import type { Pool } from 'pg'
import { guardedWrite } from '../guarded-write.js'
import type { GuardedRegister } from '../system.js'

/** The table of the guarded registers. */
export const createRegisters = 'create table registers (name text primary key, value text not null)'

/** A row that is written in a transaction under the guard of the package. */
export class PostgresRegister implements GuardedRegister {
  readonly #name: string
  readonly #pool: Pool
  readonly #guard: PostgresGuard

  constructor(name: string, pool: Pool, guard: PostgresGuard) {
    this.#name = name
    this.#pool = pool
    this.#guard = guard
  }

  write(value: string, token: bigint): Promise<'accepted' | 'refused'> {
    return guardedWrite(this.#write(value, token))
  }

  async read(): Promise<string | undefined> {
    const { rows } = await this.#pool.query<{ value: string }>('select value from registers where name = $1', [
      this.#name,
    ])
    return rows[0]?.value
  }

  async #write(value: string, token: bigint): Promise<void> {
    const client = await this.#pool.connect()
    // The pool listens to the connections that are not in use only.
    const ignore = (): void => {}
    client.on('error', ignore)
    let isDone = false
    try {
      await client.query('begin')
      await this.#guard.transact(this.#name, token, client)
      const write =
        'insert into registers (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value'
      await client.query(write, [this.#name, value])
      await client.query('commit')
      isDone = true
    } finally {
      // The end of its connection rolls a transaction back.
      client.release(!isDone)
      // One that is not reused may still fail when it ends.
      if (isDone) client.off('error', ignore)
    }
  }
}
