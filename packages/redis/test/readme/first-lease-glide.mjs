import { createLease, durations } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import { GlideClient } from '@valkey/valkey-glide'

const { hostname, port } = new URL(process.env.VALKEY_URL ?? 'redis://localhost:6379')
const addresses = [{ host: hostname, port: Number(port) }]
// The store copies the configuration and the class of the client. With lazyConnect, yours never connects.
const valkey = await GlideClient.createClient({ addresses, lazyConnect: true })
const store = new RedisLeaseStore(valkey)

await createLease(store, 'mailbox', durations.leaderElection).run(
  async ({ fencingToken }) => {
    console.log(`process ${process.pid} has its turn, with the token ${fencingToken}`)
    // Your work.
    console.log('done')
  },
  { wait: 60_000 },
)
await store.close()
valkey.close()
