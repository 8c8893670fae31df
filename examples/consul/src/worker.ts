/** One of the four processes, on a lease of Consul: `worker.ts FOLDER NAME`. */
import { ConsulLeaseStore } from '@leasehold/consul'
import { createLease } from '@leasehold/core'
import { runWorker } from '@leasehold/example-failover'
import { ConsulLedger } from './consul-ledger.js'

const [folder = '', name = ''] = process.argv.slice(2)
const { CONSUL_HTTP_ADDR = '', CONSUL_HTTP_TOKEN, LEASEHOLD_PREFIX = '', LEASEHOLD_TTL = '' } = process.env
const ttl = Number(LEASEHOLD_TTL)

const store = new ConsulLeaseStore({
  addresses: [CONSUL_HTTP_ADDR],
  token: CONSUL_HTTP_TOKEN,
  prefix: LEASEHOLD_PREFIX,
  minTtl: Math.min(ttl, 10_000),
})
const lease = createLease(store, 'ledger-lease', {
  owner: name,
  heartbeatTimeout: ttl,
  heartbeatInterval: ttl / 5,
  operationTimeout: ttl / 6,
})
await runWorker({ folder, name, lease, store, ledger: new ConsulLedger(CONSUL_HTTP_ADDR, `${LEASEHOLD_PREFIX}ledger`) })
