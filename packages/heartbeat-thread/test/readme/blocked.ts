// #region program
import { createLease } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'

const thread = new HeartbeatThread()
const store = await thread.open({ leaseClass: '@leasehold/local', options: { folder: 'leases' } })
const lease = createLease(store, 'ledger', { heartbeatTimeout: 2_000 })

await lease.run(async () => {
  // Your work. It blocks the event loop for 5 seconds, which is longer than the ttl, and the lease is kept.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000)
  process.stdout.write(`process ${process.pid} still holds the lease: ${lease.checkLease()}\n`)
})
await thread.close()
// #endregion program
