import type { Clock } from '@leasehold/core'
import { AbortableCall, type StoreCall, type StoreFinding } from '@leasehold/core/store'
import { clockFinding, pause, wallTime } from '@leasehold/core/store-kit'
import type { EtcdClient } from './client/etcd-client.js'

/** How long a member may take for its metrics, in milliseconds: they are not served everywhere. */
const METRICS_TIMEOUT = 700

/** A follower writes a moment after the leader; the time between two looks, in milliseconds, and how many there are. */
const LOOK = 100
const LOOKS = 4

/** The shortest server lease, in seconds. It holds no key, and ends by itself. */
const SHORTEST_LEASE = '1'

const FSYNCS = 'etcd_disk_wal_fsync_duration_seconds_count'
const SIZE = 'etcd_mvcc_db_total_size_in_bytes'
const QUOTA = 'etcd_server_quota_backend_bytes'

/** The part of its quota from which on a database is nearly full. */
const NEARLY_FULL = 0.8

/** The metrics of a member. */
interface Metrics {
  readonly endpoint: string
  readonly values: ReadonlyMap<string, number>
  /** The time of the answer, by the clock of the member, and when it was asked and answered, by this one. */
  readonly time: number
  readonly asked: number
  readonly answered: number
}

/** Everything that decides whether the cluster keeps leases. Writes no key. Rejects with the error of gRPC. */
export async function probeCluster(client: EtcdClient, call: StoreCall): Promise<readonly StoreFinding[]> {
  const { clock } = client
  const before = await metricsOf(client, call)
  await client.request('LeaseGrant', { TTL: SHORTEST_LEASE, ID: '0' }, call)
  const [first] = before
  if (first === undefined) {
    const found = 'the members do not show their metrics over http:'
    return ['fsync', 'space', 'clock'].map((check) => ({ check, result: 'unknown', found }))
  }
  return [await fsyncOf(client, before, clock, call), spaceOf(before), clockOf(first)]
}

/** Each write has to reach the disk of each member: the number of its fsyncs grows. */
async function fsyncOf(
  client: EtcdClient,
  before: readonly Metrics[],
  clock: Clock,
  call: StoreCall,
): Promise<StoreFinding> {
  const check = 'fsync'
  let silent: readonly string[] = []
  for (let look = 0; look < LOOKS; look += 1) {
    const after = await metricsOf(client, call)
    silent = before
      .filter(({ endpoint, values }) => after.some((now) => now.endpoint === endpoint && !hasGrown(values, now.values)))
      .map(({ endpoint }) => endpoint)
    if (silent.length === 0) return { check, result: 'ok' }
    await pause(clock, LOOK, call)
  }
  return {
    check,
    result: 'failed',
    setting: '--unsafe-no-fsync',
    found: `a write did not reach the disk of ${silent.join(', ')}: members that crash together forget grants`,
    change: 'start etcd without --unsafe-no-fsync',
  }
}

function hasGrown(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): boolean {
  // A member without this metric is not accused.
  return (after.get(FSYNCS) ?? Number.POSITIVE_INFINITY) > (before.get(FSYNCS) ?? 0)
}

function spaceOf(members: readonly Metrics[]): StoreFinding {
  const check = 'space'
  const full = members.filter(({ values }) => (values.get(SIZE) ?? 0) > NEARLY_FULL * (values.get(QUOTA) ?? Infinity))
  if (full.length === 0) return { check, result: 'ok' }
  return {
    check,
    result: 'warning',
    setting: '--quota-backend-bytes',
    found: `the database of ${full.map(({ endpoint }) => endpoint).join(', ')} is nearly full: etcd then takes no writes`,
    change: 'compact and defragment it, turn on --auto-compaction-retention, or raise --quota-backend-bytes',
  }
}

/** The time of an HTTP answer is in whole seconds. */
function clockOf({ time, asked, answered }: Metrics): StoreFinding {
  return clockFinding(time + 500, asked, answered)
}

/** The metrics of the members that show them without TLS. */
async function metricsOf(client: EtcdClient, call: StoreCall): Promise<readonly Metrics[]> {
  const part = new AbortableCall(METRICS_TIMEOUT)
  const removeListener = call.onAbort(() => part.abort(call.signal.reason))
  const cancel = client.clock.schedule(METRICS_TIMEOUT, () => part.abort(new Error('no metrics came in time')))
  try {
    const all = await Promise.all(client.plainEndpoints.map((endpoint) => metricsAt(endpoint, part)))
    if (call.aborted) throw call.signal.reason
    return all.filter((metrics) => metrics !== undefined)
  } finally {
    cancel()
    removeListener()
  }
}

async function metricsAt(endpoint: string, { signal }: StoreCall): Promise<Metrics | undefined> {
  const asked = wallTime()
  try {
    const answer = await fetch(`${endpoint}/metrics`, { signal })
    const text = await answer.text()
    if (!answer.ok) return undefined
    const values = new Map(
      [...text.matchAll(/^(etcd_\w+) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]),
    )
    return { endpoint, values, time: Date.parse(answer.headers.get('date') ?? ''), asked, answered: wallTime() }
  } catch {
    // It may be served at an address of its own, or not at all.
    return undefined
  }
}
