import { fileURLToPath } from 'node:url'
// #region worker
import { loadConfig } from '@leasehold/config'
import { LeaseProvider, StoreLease } from '@leasehold/core'

const folder = fileURLToPath(new URL('..', import.meta.url))
const config = loadConfig({ folder, file: process.argv[2] ?? 'application.conf' })

await using provider = new LeaseProvider(config)
const lease = await provider.getLease('nightly-report', 'worker.lease')
const rival = await provider.getLease('nightly-report', 'worker.lease', 'rival')

console.log(
  `${config.getString('worker.lease.lease-class')}, ttl ${config.getDuration('worker.lease.heartbeat-timeout')} ms`,
)
if (lease instanceof StoreLease)
  await lease.run(async () => console.log(`mine; the rival gets it: ${await rival.acquire()}`))
console.log(`after me, the rival gets it: ${await rival.acquire()}`)
// #endregion worker
