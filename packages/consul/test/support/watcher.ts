/** Watches a name, and waits for nothing. Its arguments are the port of an agent and the way to it. */
import { once } from 'node:events'
import { get } from 'node:http'
import { ConsulLeaseStore } from '@leasehold/consul'
import { AbortableCall } from '@leasehold/core/store'
import Consul from 'consul'

const [port = '', way] = process.argv.slice(2)
const address = `http://127.0.0.1:${port}`
const cluster =
  way === 'a Consul object'
    ? { consul: new Consul({ host: '127.0.0.1', port: Number(port) }) }
    : { addresses: [address] }
void new ConsulLeaseStore(cluster).watch('job', new AbortableCall()).next()
// Answered when the query is there.
await once(get(address), 'response')
