/**
 * A process of its own that holds a lease for one term: `term.ts PORT OWNER`. It prints `held` when it holds the lease, and then
 * its term, as JSON, when it has lost it, or has released it after the end of its input.
 */
import { createLease } from '@leasehold/core'
import { instrumentLeases } from '@leasehold/opentelemetry'
import { RedisLeaseStore } from '@leasehold/redis'
import { Redis } from 'ioredis'
import { Telemetry } from '../support/telemetry.js'

const [port = '', owner = ''] = process.argv.slice(2)
const telemetry = new Telemetry()
instrumentLeases({ tracerProvider: telemetry.tracerProvider, linkTerms: true })

const times = { heartbeatTimeout: 2_000, heartbeatInterval: 400, operationTimeout: 400 }
const lease = createLease(new RedisLeaseStore(new Redis({ port: Number(port) })), 'ledger', { owner, ...times })

function show(): void {
  const term = telemetry.span('term ledger')
  const events = term.events.map(({ name }) => name)
  const links = term.links.map(({ context }) => context)
  const shown = { ...term.spanContext(), links, events, attributes: term.attributes }
  process.stdout.write(`${JSON.stringify(shown)}\n`, () => process.exit())
}

process.stdin.on('end', () => void lease.release().then(show)).resume()
if (!(await lease.acquire({ wait: 30_000, onLost: () => setImmediate(show) }))) throw new Error('not granted')
// The context of the term is in the record.
while ((await lease.holder())?.metadata?.traceparent === undefined) await lease.renew()
process.stdout.write('held\n')
