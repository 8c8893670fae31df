import type { LeaseStore } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { RedisLeaseStore } from '@leasehold/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'

/** Where a store is, so that another process can open it. */
export type StorePlace =
  | { readonly kind: 'local'; readonly folder: string }
  | { readonly kind: 'redis'; readonly url: string }
  | { readonly kind: 'postgres'; readonly url: string }

export interface OpenedStore {
  readonly store: LeaseStore
  close(): Promise<void>
}

/** Opens a store whose server may come later. */
export async function openStore(place: StorePlace): Promise<OpenedStore> {
  if (place.kind === 'local') {
    const store = new LocalLeaseStore({ folder: place.folder })
    return { store, close: () => store.close() }
  }
  if (place.kind === 'redis') {
    const client = new Redis(place.url)
    client.on('error', () => {})
    const store = new RedisLeaseStore(client)
    return {
      store,
      close: async () => {
        await store.close()
        client.disconnect()
      },
    }
  }
  const pool = new Pool({ connectionString: place.url, max: 5 })
  pool.on('error', () => {})
  const store = new PostgresLeaseStore(pool)
  await store.migrate()
  return {
    store,
    close: async () => {
      await store.close()
      await pool.end()
    },
  }
}
