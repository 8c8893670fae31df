import { LeaseProvider } from '@leasehold/core'
import { localLease } from '@leasehold/local'

const config = {
  leasehold: {
    // For all leases.
    lease: { 'lease-class': '@leasehold/local', folder: 'leases', 'heartbeat-timeout': '60s' },
    // For those of one block.
    reports: { 'heartbeat-interval': '10s', 'max-hold': '1h' },
  },
}
const leases = new LeaseProvider(config, { '@leasehold/local': localLease })
const lease = await leases.getLease('nightly-report', 'leasehold.reports')
if (await lease.acquire({ wait: 60_000 })) console.log(`process ${process.pid} writes the report`) // your work
await leases.close()
