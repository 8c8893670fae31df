/** A process of the acceptance test: `elector.ts KUBECONFIG LAYOUT OWNER`. */
import { createLease } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import type { LayoutName } from '../../src/kubernetes-options.js'
import { ELECTION } from './election.js'

const [kubeconfigFile = '', layout = 'lease', owner = ''] = process.argv.slice(2)

function tell(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

// It must not outlive its parent, and no timer keeps it alive.
process.stdin.on('end', () => process.exit()).resume()

const store = new KubernetesLeaseStore({ kubeconfigFile, layout: layout as LayoutName, namespace: 'default' })
const lease = createLease(store, 'election', { ...ELECTION, owner })
lease.on('lost', ({ reason }) => tell({ event: 'lost', reason }))

process.once('SIGTERM', async () => {
  await lease.release()
  await store.close()
  process.exit()
})

// The client is loaded, and connected, by the first call.
await store.read('election', new AbortableCall())
tell({ event: 'waiting' })
await lease.acquire({ wait: Number.POSITIVE_INFINITY })
tell({ event: 'granted', token: String(lease.fencingToken) })
