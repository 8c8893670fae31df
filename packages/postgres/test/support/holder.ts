/** A process of its own that takes one lease and holds it until it is killed: `holder.ts PORT SCHEMA NAME TTL`. */
import { randomUUID } from 'node:crypto'
import { AbortableCall } from '@leasehold/core/store'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { Pool } from 'pg'

const [port = '', schema = '', name = '', ttl = ''] = process.argv.slice(2)
// It must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const pool = new Pool({ host: '127.0.0.1', port: Number(port), user: 'postgres', database: 'postgres' })
const store = new PostgresLeaseStore(pool, { schema })
const request = { name, owner: 'elsewhere', grantId: randomUUID(), ttl: Number(ttl) }
const outcome = await store.acquire(request, new AbortableCall())
process.stdout.write(outcome.granted ? String(outcome.grant.fencingToken) : 'refused')
