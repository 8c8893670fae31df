import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLease, type StoreLease, systemClock } from '@leasehold/core'
import { instrumentLeases } from '@leasehold/opentelemetry'
import { LeaderElection, PartitionGroup, Schedule } from '@leasehold/recipes'
import { RedisLeaseStore } from '@leasehold/redis'
import { silentLogger as logger } from '@leasehold/testing/silent-logger'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { Redis } from 'ioredis'
import type { MemberPart, MemberTimes } from './fleet-member.js'

/** A process of a fleet: it does what its arguments say, shows its metrics, and obeys commands. Prints its port. */

const exporter = new PrometheusExporter({ preventServerStart: true })
instrumentLeases({ meterProvider: new MeterProvider({ readers: [exporter] }) })

const never = new Promise<void>(() => {})
const stops = new Map<string, () => Promise<unknown>>()

function storeOf({ port, prefix }: MemberPart): RedisLeaseStore {
  return new RedisLeaseStore(new Redis({ port, host: '127.0.0.1', lazyConnect: true }), {
    prefix: `${prefix ?? 'fleet'}:`,
  })
}

/** Holds the lease, or waits for it, until it is stopped; also again after a loss. */
function hold(part: MemberPart, times: MemberTimes): void {
  const lease = createLease(storeOf(part), part.name, { ...times, logger })
  const stopping = new AbortController()
  void keep(lease, stopping.signal)
  stops.set(part.name, async () => {
    stopping.abort()
    await lease.release()
  })
}

async function keep(lease: StoreLease, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const lost = new Promise<void>((resolve) => {
      lease.once('lost', () => resolve())
      signal.addEventListener('abort', () => resolve())
    })
    try {
      if (await lease.acquire({ wait: Number.POSITIVE_INFINITY, signal })) await lost
    } catch {
      // The store cannot be reached, or the wait was cancelled.
    }
  }
}

/** Many callers wait for the same lease. */
function queue(part: MemberPart, times: MemberTimes): void {
  const store = storeOf(part)
  const stopping = new AbortController()
  for (let caller = 0; caller < (part.count ?? 1); caller += 1) {
    const lease = createLease(store, part.name, { ...times, owner: `${part.name}-${caller}` })
    lease.acquire({ wait: Number.POSITIVE_INFINITY, signal: stopping.signal }).catch(() => {})
  }
  stops.set(part.name, async () => stopping.abort())
}

function lead(part: MemberPart, times: MemberTimes): void {
  const election = new LeaderElection(storeOf(part), { name: part.name, ...times, onElected: () => never })
  election.start()
}

function schedule(part: MemberPart, times: MemberTimes): void {
  const { name, every } = part
  new Schedule(storeOf(part), { name, ...(every !== undefined && { every }), ...times, work: async () => {} }).start()
}

function partitions(part: MemberPart, times: MemberTimes): void {
  const options = { name: part.name, partitions: part.count ?? 1, rebalanceInterval: 300, ...times }
  new PartitionGroup(storeOf(part), {
    ...options,
    onAssigned: ({ signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  }).start()
}

const begin = { hold, queue, lead, schedule, partitions }

function start(part: MemberPart): void {
  begin[part.kind](part, part.times)
}

/** Nothing else runs in this process meanwhile. */
function block(duration: number): void {
  const until = systemClock.now() + duration
  while (systemClock.now() < until) {
    // Busy.
  }
}

async function obey(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname === '/metrics') return exporter.getMetricsRequestHandler(request, response)
  if (pathname === '/start') start(JSON.parse(searchParams.get('part') ?? '{}'))
  if (pathname === '/stop') await stops.get(searchParams.get('name') ?? '')?.()
  response.end('done')
  if (pathname === '/block') setImmediate(() => block(Number(searchParams.get('duration'))))
}

for (const part of JSON.parse(process.argv[2] ?? '[]') as MemberPart[]) start(part)
const server = createServer((request, response) => void obey(request, response))
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
// A test that was killed leaves no process behind: a fleet lives for seconds.
systemClock.schedule(180_000, () => process.exit(1))
