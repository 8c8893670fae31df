import type { PostgresClient } from '@leasehold/postgres'
import { Client, Pool } from 'pg'
import postgres from 'postgres'

/** A client as its users make it. */
export interface Opened {
  readonly client: PostgresClient
  end(): Promise<unknown>
}

/** A client library. */
export interface Library {
  readonly name: string
  open(url: string): Opened | Promise<Opened>
}

export const pool: Library = {
  name: 'a Pool of pg',
  open: (url) => {
    const client = new Pool({ connectionString: url, max: 8 })
    client.on('error', () => {})
    return { client, end: () => client.end() }
  },
}

export const postgresJs: Library = {
  name: 'postgres.js',
  open: (url) => {
    const client = postgres(url, { max: 8, onnotice: () => {} })
    return { client, end: () => client.end({ timeout: 1 }) }
  },
}

export const singleClient: Library = {
  name: 'a Client of pg',
  open: async (url) => {
    const client = new Client({ connectionString: url })
    client.on('error', () => {})
    await client.connect()
    return { client, end: () => client.end() }
  },
}
