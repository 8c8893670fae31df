import { randomUUID } from 'node:crypto'
import { systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { EtcdLeaseStore } from '@leasehold/etcd'

/** Takes a lease, prints its fencing token, and holds it until the process is killed. */
const [endpoint = '', prefix = '', name = '', ttl = ''] = process.argv.slice(2)
const store = new EtcdLeaseStore({ endpoints: [endpoint] }, { prefix })
// Timers do not keep a process alive; this does, while its parent lives.
process.stdin.on('end', () => process.exit()).resume()
const call = new AbortableCall()
const outcome = await store.acquire({ name, owner: 'child', grantId: randomUUID(), ttl: Number(ttl) }, call)
if (!outcome.granted) throw new Error('another owner holds the lease')
process.stdout.write(String(outcome.grant.fencingToken))
for (;;) {
  await new Promise((resolve) => systemClock.schedule(Number(ttl) / 10, () => resolve(undefined)))
  await store.renew(outcome.grant, call)
}
