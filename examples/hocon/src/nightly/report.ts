import { loadConfig } from '@leasehold/config'
import { LeaseProvider } from '@leasehold/core'

// Reads application.conf in the working directory.
const config = loadConfig()
const leases = new LeaseProvider(config)
const lease = await leases.getLease('nightly-report', 'jobs.nightly')
if (await lease.acquire()) {
  console.log(`writes the report, with a ttl of ${config.getDuration('jobs.nightly.heartbeat-timeout')} ms`) // your work
  await lease.release()
}
await leases.close()
