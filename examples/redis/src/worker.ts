/** One of the four processes, on a lease of Redis: `worker.ts FOLDER NAME`. */
import { createLease } from '@leasehold/core'
import { runWorker } from '@leasehold/example-failover'
import { RedisLeaseStore } from '@leasehold/redis'
import { Redis } from 'ioredis'
import { RedisLedger } from './redis-ledger.js'

const [folder = '', name = ''] = process.argv.slice(2)
const { REDIS_URL = '', LEASEHOLD_PREFIX = '' } = process.env

const redis = new Redis(REDIS_URL)
const store = new RedisLeaseStore(redis, { prefix: LEASEHOLD_PREFIX })
const lease = createLease(store, 'ledger', {
  owner: name,
  heartbeatTimeout: 3_000,
  heartbeatInterval: 600,
  operationTimeout: 500,
})
await runWorker({ folder, name, lease, store, ledger: new RedisLedger(redis, `${LEASEHOLD_PREFIX}ledger`) })
