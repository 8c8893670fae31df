/**
 * The failover demo on leases of Consul: on an agent that it starts, or on the one of CONSUL_HTTP_ADDR. Exits 0 if every
 * figure of its summary is as expected.
 */
import { randomUUID } from 'node:crypto'
import { runDemo } from '@leasehold/example-failover'
import { deleteAll, readConsulLedger } from './consul-ledger.js'
import { startConsul } from './start-consul.js'

const own = process.env.CONSUL_HTTP_ADDR
const started = own === undefined ? await startConsul() : undefined
const url = own ?? started?.url ?? ''
// The servers of Consul accept no shorter ttl than 10 s, unless they are told so.
const ttl = started === undefined ? 10_000 : 3_000

// The four processes read these.
process.env.CONSUL_HTTP_ADDR = url
process.env.LEASEHOLD_PREFIX = `leasehold-demo-${randomUUID()}/`
process.env.LEASEHOLD_TTL = String(ttl)

const ledger = `${process.env.LEASEHOLD_PREFIX}ledger`
try {
  process.exitCode = await runDemo({
    worker: new URL('./worker.ts', import.meta.url),
    ttl,
    // Consul keeps a session for up to twice its ttl, and then the name for the lock-delay, which is the ttl.
    longestTakeover: 3.5 * ttl,
    longestHandOver: 1_000,
    readLedger: () => readConsulLedger(url, ledger),
  })
} finally {
  for (const prefix of [process.env.LEASEHOLD_PREFIX, `leasehold-fences/${ledger}`]) await deleteAll(url, prefix)
  started?.stop()
}
