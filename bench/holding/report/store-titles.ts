import type { StoreKind } from '../holder/open-store.js'

export const titles: Readonly<Record<StoreKind, string>> = {
  redis: 'Redis',
  postgres: 'PostgreSQL',
  etcd: 'etcd',
  local: 'Local',
}
