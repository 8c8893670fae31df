/** A process of its own that waits for a lease until it is killed: `waiter.ts PORT NAME TTL`. */
import { createLease } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import { Redis } from 'ioredis'

const [port = '', name = '', ttl = ''] = process.argv.slice(2)
// It must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const store = new RedisLeaseStore(new Redis({ port: Number(port), lazyConnect: true }))
const times = { heartbeatTimeout: Number(ttl), heartbeatInterval: Number(ttl) / 10, operationTimeout: Number(ttl) / 6 }
const lease = createLease(store, name, { ...times, owner: 'elsewhere' })
process.stdout.write('waits')
await lease.acquire({ wait: Number.POSITIVE_INFINITY })
