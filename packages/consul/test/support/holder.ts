/** A process of its own that takes one lease and holds it until it is killed: `holder.ts URL PREFIX NAME TTL`. */
import { randomUUID } from 'node:crypto'
import { ConsulLeaseStore } from '@leasehold/consul'
import { AbortableCall } from '@leasehold/core/store'

const [url = '', prefix = '', name = '', ttl = ''] = process.argv.slice(2)
// It must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const store = new ConsulLeaseStore({ addresses: [url], prefix, minTtl: 1_000 })
const request = { name, owner: 'elsewhere', grantId: randomUUID(), ttl: Number(ttl) }
const outcome = await store.acquire(request, new AbortableCall())
process.stdout.write(outcome.granted ? String(outcome.grant.fencingToken) : 'refused')
