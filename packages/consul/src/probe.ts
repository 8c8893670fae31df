import type { StoreCall, StoreFinding } from '@leasehold/core/store'
import { failureOf } from './failure-of.js'
import { bodyOf } from './http/consul-answer.js'
import type { ConsulClient } from './http/consul-client.js'

/** Go writes durations as `10s`, `1m0s` or `500ms`. */
const units: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  µs: 0.001,
  us: 0.001,
  ns: 1e-6,
}

/** Everything that decides whether the cluster keeps leases. Writes nothing. `minTtl`: of the store, in milliseconds. */
export async function probeCluster(
  client: ConsulClient,
  minTtl: number,
  call: StoreCall,
): Promise<readonly StoreFinding[]> {
  const [leader, sessions] = await Promise.all([leaderOf(client, call), sessionsOf(client, minTtl, call)])
  return [leader, sessions]
}

async function leaderOf(client: ConsulClient, call: StoreCall): Promise<StoreFinding> {
  const check = 'leader'
  const answer = await client.send({ method: 'GET', path: '/status/leader' }, call)
  if (answer.status !== 200) throw failureOf('asking for the leader', undefined, answer)
  if (bodyOf(answer) !== '') return { check, result: 'ok' }
  const found = 'the servers have no leader: no lease can be acquired or renewed'
  return { check, result: 'failed', found, change: 'start a majority of the servers' }
}

/** The servers reject sessions that are shorter than their limit. An agent that is no server has a limit of its own. */
async function sessionsOf(client: ConsulClient, minTtl: number, call: StoreCall): Promise<StoreFinding> {
  const check = 'session ttl'
  const answer = await client.send({ method: 'GET', path: '/agent/self' }, call)
  const { DebugConfig } = Object(bodyOf(answer)) as { DebugConfig?: { SessionTTLMin?: unknown; ServerMode?: unknown } }
  const limit = durationIn(DebugConfig?.SessionTTLMin)
  if (answer.status !== 200 || limit === undefined || DebugConfig?.ServerMode !== true) {
    const found = answer.status === 403 ? 'the token may not read the agent' : 'the agent is no server'
    return { check, result: 'unknown', found }
  }
  if (limit <= minTtl) return { check, result: 'ok' }
  return {
    check,
    result: 'failed',
    setting: 'min-ttl',
    found: `session_ttl_min of the servers is ${limit} ms, and min-ttl of the store is ${minTtl} ms`,
    change: 'set min-ttl of the store to session_ttl_min, or lower session_ttl_min',
  }
}

function durationIn(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const parts = [...text.matchAll(/([\d.]+)(h|ms|m|µs|us|ns|s)/g)]
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? 0), 0)
}
