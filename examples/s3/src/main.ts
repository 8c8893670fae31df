/**
 * The failover demo on leases in a bucket: on a moto that it starts, or in the bucket that BUCKET names. Exits 0 if every
 * figure of its summary is as expected.
 */
import { randomUUID } from 'node:crypto'
import { runDemo } from '@leasehold/example-failover'
import { ObjectLedger } from './object-ledger.js'
import { startMoto } from './start-moto.js'

const { env } = process
const started = env.BUCKET === undefined ? await startMoto('leasehold-demo') : undefined
if (started !== undefined) {
  Object.assign(env, {
    BUCKET: 'leasehold-demo',
    AWS_ENDPOINT_URL_S3: started.endpoint,
    AWS_ACCESS_KEY_ID: 'demo',
    AWS_SECRET_ACCESS_KEY: 'demo',
  })
}
// For the four processes.
env.LEASEHOLD_PREFIX = `leasehold-demo-${randomUUID()}/`

try {
  process.exitCode = await runDemo({
    worker: new URL('./worker.ts', import.meta.url),
    ttl: 6_000,
    // Waiters poll about every second, and a grant waits for the end of the second of a release.
    longestHandOver: 6_000,
    readLedger: () => new ObjectLedger({ bucket: env.BUCKET ?? '' }, `${env.LEASEHOLD_PREFIX}ledger.json`).read(),
  })
} finally {
  await started?.stop()
}
