import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, durations } from '@leasehold/core'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'

const store = new KubernetesLeaseStore() // by your kubeconfig, or in a pod by its service account
const lease = createLease(store, 'mailbox', durations.leaderElection)

await lease.run(
  async ({ signal, fencingToken }) => {
    console.log(`process ${process.pid} has its turn, with the token ${fencingToken}`)
    // Your work. Pass the signal on, and send the token with each write.
    await sleep(10_000, undefined, { signal })
    console.log('done')
  },
  { wait: 60_000 },
)
await store.close()
