import { LeaseError } from '@leasehold/core'
import type { StoreCall, StoreFinding } from '@leasehold/core/store'
import { clockFinding, wallTime } from '@leasehold/core/store-kit'
import type { Answer } from './answers.js'

/** What a server says of itself. */
export interface ServerInfo {
  /** Its clock, in milliseconds since 1970. */
  readonly time: number
  /** The fields of INFO; without those that the user may not read. */
  readonly fields: ReadonlyMap<string, string>
}

/** Reads the answer of the operation `probe`: the time in microseconds, and sections of INFO. */
export function serverInfo(answer: Answer): ServerInfo {
  const [, micros = '', ...sections] = answer
  const lines = sections.flatMap((section) => section.split(/\r?\n/))
  const fields = lines.map((line) => line.split(/:(.*)/s)).filter(([, value]) => value !== undefined)
  return { time: Number(micros) / 1_000, fields: new Map(fields.map(([name = '', value = '']) => [name, value])) }
}

/** The conditions without which two owners could hold one name: they are checked before the first grant. */
export function conditionsOf({ fields }: ServerInfo): readonly StoreFinding[] {
  return [evictionOf(fields), roleOf(fields)]
}

/** What a crash of the server, or a failover to a replica, can forget. */
export function durabilityOf({ fields }: ServerInfo): readonly StoreFinding[] {
  return [persistenceOf(fields), replicationOf(fields)]
}

/** Everything that decides whether the server keeps leases. There is no `subscribe` where the client has no subscription. */
export async function probeServer(
  ask: (call: StoreCall) => Promise<ServerInfo>,
  subscribe: ((call: StoreCall) => Promise<void>) | undefined,
  call: StoreCall,
): Promise<readonly StoreFinding[]> {
  const asked = wallTime()
  let info: ServerInfo
  try {
    info = await ask(call)
  } catch (error) {
    if (isReadOnly(error)) return [READ_ONLY]
    throw error
  }
  const clock = clockFinding(info.time, asked, wallTime())
  return [...conditionsOf(info), ...durabilityOf(info), clock, await waitingOf(subscribe, call)]
}

type Fields = ServerInfo['fields']

const NOT_ALLOWED = 'the user may not run INFO'

/** All policies but noeviction can evict leases: their keys have an expiry, and a key without one is evicted by allkeys. */
function evictionOf(fields: Fields): StoreFinding {
  const check = 'eviction'
  const policy = fields.get('maxmemory_policy')
  const limit = fields.get('maxmemory')
  if (policy === undefined || limit === undefined) return { check, result: 'unknown', found: NOT_ALLOWED }
  if (policy === 'noeviction') return { check, result: 'ok', found: 'maxmemory-policy is noeviction' }
  if (limit === '0') return { check, result: 'ok', found: 'maxmemory is not limited' }
  return {
    check,
    result: 'failed',
    setting: 'maxmemory-policy',
    found: `maxmemory-policy is ${policy}: the server may evict a lease that is held, and grant it again`,
    change: 'set maxmemory-policy to noeviction, or keep leases on a server of their own',
  }
}

/** A replica that accepts writes loses them: its master overwrites them. */
function roleOf(fields: Fields): StoreFinding {
  const check = 'role'
  const role = fields.get('role')
  if (role === undefined) return { check, result: 'unknown', found: NOT_ALLOWED }
  if (role === 'master') return { check, result: 'ok' }
  return {
    check,
    result: 'failed',
    setting: 'replica-read-only',
    found: 'the server is a replica that accepts writes: its master does not have them',
    change: 'connect to the master, and set replica-read-only to yes',
  }
}

const READ_ONLY: StoreFinding = {
  check: 'role',
  result: 'failed',
  setting: 'url',
  found: 'the server is a replica, and read-only',
  change: 'connect to the master: give its address, or sentinels, or cluster',
}

function persistenceOf(fields: Fields): StoreFinding {
  const check = 'persistence'
  const aof = fields.get('aof_enabled')
  if (aof === undefined) return { check, result: 'unknown', found: NOT_ALLOWED }
  if (fields.get('aof_last_write_status') === 'err' || fields.get('rdb_last_bgsave_status') === 'err') {
    const found = 'the server could not write to its disk'
    return { check, result: 'warning', found, change: 'look into the log of the server: its disk may be full' }
  }
  if (aof === '1') return { check, result: 'ok' }
  return {
    check,
    result: 'warning',
    setting: 'appendonly',
    found: 'appendonly is off: a server that starts again has forgotten the latest leases, and grants them again',
    change: 'set appendonly to yes, or have the server stay down for a ttl before it starts again',
  }
}

/** The field with the number of good replicas is there only if the server requires some. */
function replicationOf(fields: Fields): StoreFinding {
  const check = 'replication'
  const replicas = fields.get('connected_slaves')
  if (replicas === undefined) return { check, result: 'unknown', found: NOT_ALLOWED }
  if (replicas === '0') return { check, result: 'ok', found: 'the server has no replicas' }
  const found = `${replicas} replicas follow with a delay`
  if (fields.has('min_slaves_good_slaves'))
    return { check, result: 'ok', found: `${found}, within min-replicas-max-lag` }
  return {
    check,
    result: 'warning',
    setting: 'min-replicas-to-write',
    found: `${found}: a failover can lose the latest grants, and grant them again`,
    change:
      'set min-replicas-to-write to 1, check fencing tokens at the resource, or use @leasehold/redis-quorum on independent servers',
  }
}

/** Waiters are notified over a connection of their own. */
async function waitingOf(
  subscribe: ((call: StoreCall) => Promise<void>) | undefined,
  call: StoreCall,
): Promise<StoreFinding> {
  if (subscribe === undefined) {
    return {
      check: 'notifications',
      result: 'ok',
      found: 'the client has no subscription: waiters ask again and again',
    }
  }
  try {
    await subscribe(call)
    return { check: 'notifications', result: 'ok' }
  } catch (error) {
    if (!(error instanceof LeaseError) || call.aborted) throw error
    return { check: 'notifications', result: 'failed', found: error.message }
  }
}

function isReadOnly(error: unknown): boolean {
  return error instanceof LeaseError && error.message.includes('READONLY')
}
