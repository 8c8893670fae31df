/** A process of its own that takes one lease and holds it until it is killed: `holder.ts URL BUCKET NAME TTL`. */
import { randomUUID } from 'node:crypto'
import { AbortableCall } from '@leasehold/core/store'
import { NatsLeaseStore } from '@leasehold/nats'

const [url = '', bucket = '', name = '', ttl = ''] = process.argv.slice(2)
// It must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const store = new NatsLeaseStore({ servers: [url] }, { bucket })
const request = { name, owner: 'elsewhere', grantId: randomUUID(), ttl: Number(ttl) }
const outcome = await store.acquire(request, new AbortableCall())
process.stdout.write(outcome.granted ? String(outcome.grant.fencingToken) : 'refused')
