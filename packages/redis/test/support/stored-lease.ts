import type { RedisServer } from '@leasehold/testing/redis-server'

/** The record of a lease on the server; see src/script/fast-path.ts. */
export interface StoredLease {
  readonly state: string
  /** Instants are microseconds of the server's clock. */
  readonly until: string
  readonly token: string
  readonly kept: string
  readonly flags: string
  readonly grant: string
  readonly ttl: string
}

export async function storedLease(server: Pick<RedisServer, 'command'>, key: string): Promise<StoredLease | undefined> {
  const text = await server.command('HGET', key, 'lease')
  if (typeof text !== 'string') return undefined
  const [state = '', until = '', token = '', kept = '', flags = '', grant = '', ttl = ''] = text.split(/ +/)
  return { state, until, token, kept, flags, grant, ttl }
}
