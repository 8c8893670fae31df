import type { LeaseStore } from '@leasehold/core'
import { EtcdLeaseStore } from '@leasehold/etcd'
import { LocalLeaseStore } from '@leasehold/local'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { RedisLeaseStore } from '@leasehold/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'

export type StoreKind = 'redis' | 'postgres' | 'etcd' | 'local'

/** A pool that is at least as large as the store uses at once. */
const CONNECTIONS = 5

/** The store of one process, at the address of a server: a URL, or a folder. */
export function openStore(kind: StoreKind, address: string): LeaseStore {
  if (kind === 'redis') return new RedisLeaseStore(new Redis(address, { lazyConnect: true }))
  if (kind === 'postgres') return new PostgresLeaseStore(new Pool({ connectionString: address, max: CONNECTIONS }))
  if (kind === 'etcd') return new EtcdLeaseStore({ endpoints: [address] })
  return new LocalLeaseStore({ folder: address })
}
