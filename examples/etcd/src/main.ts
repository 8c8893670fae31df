/**
 * The failover demo on leases of etcd: on a server that it starts, or on the one of ETCD_ENDPOINT. Exits 0 if every figure of
 * its summary is as expected.
 */
import { randomUUID } from 'node:crypto'
import { runDemo } from '@leasehold/example-failover'
import { readEtcdLedger } from './etcd-ledger.js'
import { startEtcd } from './start-etcd.js'

const own = process.env.ETCD_ENDPOINT
const started = own === undefined ? await startEtcd() : undefined
const endpoint = own ?? started?.endpoint ?? ''

// The four processes read these.
process.env.ETCD_ENDPOINT = endpoint
process.env.LEASEHOLD_PREFIX = `leasehold-demo-${randomUUID()}/`

try {
  process.exitCode = await runDemo({
    worker: new URL('./worker.ts', import.meta.url),
    ttl: 4_000,
    // The server looks for expired leases twice a second.
    longestHandOver: 2_000,
    readLedger: () => readEtcdLedger(endpoint, `${process.env.LEASEHOLD_PREFIX}ledger`),
  })
} finally {
  await started?.stop()
}
