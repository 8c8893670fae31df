import { type Entry, type Ledger, parseLedger, toLine } from '@leasehold/example-failover'
import { RedisGuard } from '@leasehold/redis'
import type { Redis } from 'ioredis'

/** A text in Redis; each entry is appended under its fencing token. */
export class RedisLedger implements Ledger {
  readonly #redis: Redis
  readonly #key: string
  readonly #guard: RedisGuard

  constructor(redis: Redis, key: string) {
    this.#redis = redis
    this.#key = key
    this.#guard = new RedisGuard(redis)
  }

  // #region fenced
  async write(entry: Entry): Promise<void> {
    await this.#guard.transact(this.#key, entry.token, ['APPEND', toLine(entry)])
  }
  // #endregion fenced

  close(): Promise<void> {
    this.#redis.disconnect()
    return Promise.resolve()
  }
}

export async function readRedisLedger(redis: Redis, key: string): Promise<readonly Entry[]> {
  return parseLedger((await redis.get(key)) ?? '')
}
