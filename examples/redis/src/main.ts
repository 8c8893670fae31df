/**
 * The failover demo on leases of Redis: on a server that it starts, or on the one of REDIS_URL. Exits 0 if every figure of
 * its summary is as expected.
 */
import { randomUUID } from 'node:crypto'
import { runDemo } from '@leasehold/example-failover'
import { Redis } from 'ioredis'
import { readRedisLedger } from './redis-ledger.js'
import { startRedis } from './start-redis.js'

const own = process.env.REDIS_URL
const started = own === undefined ? await startRedis() : undefined
const url = own ?? started?.url ?? ''

// The four processes read these.
process.env.REDIS_URL = url
process.env.LEASEHOLD_PREFIX = `leasehold-demo-${randomUUID()}:`

const redis = new Redis(url)
try {
  process.exitCode = await runDemo({
    worker: new URL('./worker.ts', import.meta.url),
    ttl: 3_000,
    longestHandOver: 1_000,
    readLedger: () => readRedisLedger(redis, `${process.env.LEASEHOLD_PREFIX}ledger`),
  })
} finally {
  await redis.del(`${process.env.LEASEHOLD_PREFIX}ledger`)
  redis.disconnect()
  started?.stop()
}
