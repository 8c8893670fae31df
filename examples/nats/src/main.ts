/**
 * The failover demo on leases of NATS: on a server that it starts, or on the one of NATS_URL. Exits 0 if every figure of its
 * summary is as expected.
 */
import { randomUUID } from 'node:crypto'
import { runDemo } from '@leasehold/example-failover'
import { makeLedger } from './nats-ledger.js'
import { startNats } from './start-nats.js'

const own = process.env.NATS_URL
const started = own === undefined ? await startNats() : undefined
const url = own ?? started?.url ?? ''

// The four processes read these.
process.env.NATS_URL = url
process.env.LEASEHOLD_BUCKET = `leasehold-demo-${randomUUID()}`
process.env.LEASEHOLD_LEDGER = `${process.env.LEASEHOLD_BUCKET}-ledger`

const ledger = await makeLedger(url, process.env.LEASEHOLD_LEDGER, process.env.LEASEHOLD_BUCKET)
try {
  process.exitCode = await runDemo({
    worker: new URL('./worker.ts', import.meta.url),
    ttl: 3_000,
    // A challenger adds the difference that the clocks of two servers can have.
    longestTakeover: 6_000,
    longestHandOver: 1_000,
    readLedger: ledger.read,
  })
} finally {
  await ledger.remove()
  await started?.stop()
}
