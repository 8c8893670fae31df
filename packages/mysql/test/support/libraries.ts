import type { MysqlClient } from '@leasehold/mysql'
import type { MysqlServer } from '@leasehold/testing/mysql-server'
import { createPool as createMariadbPool, type PoolConfig } from 'mariadb'
import { createPool as createCallbackPool } from 'mysql2'
import { createConnection, createPool, type Pool, type PoolOptions } from 'mysql2/promise'

/** Where a server listens on this machine. */
interface Reachable {
  readonly port: number
}

/** A client as its users make it. */
export interface Opened {
  readonly client: MysqlClient
  end(): Promise<unknown>
}

/** A client library. */
export interface Library {
  readonly name: string
  open(server: MysqlServer): Opened | Promise<Opened>
}

function placeOf({ port }: Reachable) {
  return { host: '127.0.0.1', port, user: 'root', database: 'test' }
}

/** The pool of a user. */
export function poolTo(server: Reachable, options: PoolOptions = {}): Pool {
  return createPool({ ...placeOf(server), connectionLimit: 8, ...options })
}

export function mariadbPoolTo(server: Reachable, options: PoolConfig = {}) {
  return createMariadbPool({ ...placeOf(server), connectionLimit: 8, allowPublicKeyRetrieval: true, ...options })
}

/** The trials of the laws run side by side, each with stores of its own. */
const LAWS = { connectionLimit: 32 }

export const pool: Library = {
  name: 'a pool of mysql2/promise',
  open: (server) => {
    const client = poolTo(server, LAWS)
    return { client, end: () => client.end() }
  },
}

export const callbackPool: Library = {
  name: 'a pool of mysql2',
  open: (server) => {
    const client = createCallbackPool({ ...placeOf(server), ...LAWS })
    return { client, end: () => client.promise().end() }
  },
}

export const mariadbPool: Library = {
  name: 'a pool of mariadb',
  open: (server) => {
    const client = mariadbPoolTo(server, LAWS)
    return { client, end: () => client.end() }
  },
}

export const singleConnection: Library = {
  name: 'a connection of mysql2/promise',
  open: async (server) => {
    const client = await createConnection(placeOf(server))
    return { client, end: () => client.end() }
  },
}
