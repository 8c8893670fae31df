/** A process of its own that takes one lease and holds it until it is killed: `holder.ts PORT PREFIX NAME TTL`. */
import { randomUUID } from 'node:crypto'
import { AbortableCall } from '@leasehold/core/store'
import { RedisLeaseStore } from '@leasehold/redis'
import { Redis } from 'ioredis'

const [port = '', prefix = '', name = '', ttl = ''] = process.argv.slice(2)
// It must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const store = new RedisLeaseStore(new Redis({ port: Number(port), lazyConnect: true }), { prefix })
const request = { name, owner: 'elsewhere', grantId: randomUUID(), ttl: Number(ttl) }
const outcome = await store.acquire(request, new AbortableCall())
process.stdout.write(outcome.granted ? String(outcome.grant.fencingToken) : 'refused')
