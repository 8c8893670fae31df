import { loadConfig } from '@leasehold/config'
import { LeaseProvider } from '@leasehold/core'

// Reads application.conf in the working directory.
const leases = new LeaseProvider(loadConfig())
const lease = await leases.getLease('nightly-report', 'jobs.nightly')
if (await lease.acquire()) {
  console.log(`writes the report, with ${Math.round(lease.remaining / 1000)} s left`) // your work
  await lease.release()
}
await leases.close()
