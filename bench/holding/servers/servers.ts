import type { StoreKind } from '../holder/open-store.js'
import { startEtcd } from './etcd.js'
import { startLocal } from './local.js'
import { startPostgres } from './postgres.js'
import { startRedis } from './redis.js'
import type { StoreServer } from './store-server.js'

const starts: Readonly<Record<StoreKind, () => Promise<StoreServer>>> = {
  redis: startRedis,
  postgres: startPostgres,
  etcd: startEtcd,
  local: startLocal,
}

/** Uses a server of its own, and stops it. */
export async function withServer<R>(kind: StoreKind, use: (server: StoreServer) => Promise<R>): Promise<R> {
  const server = await starts[kind]()
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}
