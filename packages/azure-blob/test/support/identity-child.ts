/** A process of its own that acquires a lease by a credential: `identity-child.ts ENDPOINT CREDENTIAL`. */
import { LeaseError, LeaseProvider } from '@leasehold/core'

const [endpoint, credential] = process.argv.slice(2)
const block = { 'lease-class': '@leasehold/azure-blob', 'heartbeat-timeout': '60s', 'heartbeat-interval': '5s' }
const provider = new LeaseProvider({ job: { ...block, 'lease-operation-timeout': '20s', endpoint, credential } })
const lease = await provider.getLease(`by ${credential}`, 'job')
try {
  process.stdout.write(`granted: ${await lease.acquire()}`)
} catch (error) {
  process.stdout.write(error instanceof LeaseError ? `${error.code}: ${error.message}` : String(error))
}
await provider.close()
process.exit()
