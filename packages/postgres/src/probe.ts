import type { Clock } from '@leasehold/core'
import { AbortableCall, type StoreCall, type StoreFinding } from '@leasehold/core/store'
import { clockFinding, untilAborted, wallTime } from '@leasehold/core/store-kit'
import { nanoid } from 'nanoid'
import type { ClientAdapter } from './client/connection.js'
import { failureOf } from './failure-of.js'

/** How long a notification may take, in milliseconds, before it counts as one that does not come. */
const NOTIFICATION_TIMEOUT = 500

/** The settings of a server that decide whether it keeps leases. */
interface Settings {
  readonly standby: boolean
  readonly readonly: string
  readonly fsync: string
  readonly pages: string
  readonly names: string
  readonly replicas: number
  readonly time: number
}

const QUERY = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as readonly,
  current_setting('fsync') as fsync, current_setting('full_page_writes') as pages,
  current_setting('synchronous_standby_names') as names,
  (select count(*)::int from pg_stat_replication) as replicas,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as time`

/** What a probe uses: the connections of the operations, and those of the notifications. */
export interface Probed {
  readonly operations: ClientAdapter
  readonly notifications: Pick<ClientAdapter, 'listen'>
  readonly clock: Clock
}

/** Everything that decides whether the server keeps leases. Writes nothing. */
export async function probeServer(probed: Probed, call: StoreCall): Promise<readonly StoreFinding[]> {
  const asked = wallTime()
  const [row] = await failing(call, () => probed.operations.run(QUERY, call))
  const settings = row as Settings
  const clock = clockFinding(settings.time, asked, wallTime())
  const role = roleOf(settings)
  const others = await Promise.all([poolingOf(probed, call), notificationsOf(probed, call)])
  return [role, durabilityOf(settings), replicationOf(settings), clock, ...others]
}

function roleOf({ standby, readonly }: Settings): StoreFinding {
  const check = 'role'
  if (standby) {
    return {
      check,
      result: 'failed',
      setting: 'url',
      found: 'the server is a standby: it is read-only, and behind its primary',
      change: 'connect to the primary, for instance with target_session_attrs=read-write',
    }
  }
  if (readonly !== 'on') return { check, result: 'ok' }
  return {
    check,
    result: 'failed',
    setting: 'default_transaction_read_only',
    found: 'transactions of this user are read-only',
    change: 'set default_transaction_read_only to off for the user or the database',
  }
}

function durabilityOf({ fsync, pages }: Settings): StoreFinding {
  const check = 'durability'
  const off = [...(fsync === 'off' ? ['fsync'] : []), ...(pages === 'off' ? ['full_page_writes'] : [])]
  if (off.length === 0) return { check, result: 'ok' }
  const setting = off.join(', ')
  return {
    check,
    result: 'warning',
    setting,
    found: `${setting} off: a crash of the machine can lose grants and damage the database`,
    change: 'turn it on',
  }
}

function replicationOf({ replicas, names }: Settings): StoreFinding {
  const check = 'replication'
  if (replicas === 0) return { check, result: 'ok', found: 'the server has no standbys' }
  if (names !== '') return { check, result: 'ok', found: `standbys confirm commits: ${names}` }
  return {
    check,
    result: 'warning',
    setting: 'synchronous_standby_names',
    found: `${replicas} standbys follow with a delay: a failover can lose the latest grants, and grant them again`,
    change: 'set synchronous_standby_names, or check fencing tokens at the resource',
  }
}

/** Between client and server, a pool in statement mode refuses transactions, which guards need. */
async function poolingOf({ operations }: Probed, call: StoreCall): Promise<StoreFinding> {
  const check = 'transactions'
  if (operations.tryTransaction === undefined) {
    return { check, result: 'unknown', found: 'the connection is shared: no transaction was tried on it' }
  }
  try {
    await operations.tryTransaction(call)
    return { check, result: 'ok' }
  } catch (error) {
    if (call.aborted) throw error
    return {
      check,
      // Each operation of a lease is one statement: leases work.
      result: 'warning',
      setting: 'pool_mode',
      found: `a transaction was refused: ${error instanceof Error ? error.message : String(error)}`,
      change: 'set pool_mode of PgBouncer to transaction or session: guards need transactions',
    }
  }
}

async function notificationsOf({ operations, notifications, clock }: Probed, call: StoreCall): Promise<StoreFinding> {
  const check = 'notifications'
  if (notifications.listen === undefined) return { check, result: 'ok', found: 'turned off: waiters poll' }
  const part = new AbortableCall(call.timeout)
  const removeListener = call.onAbort(() => part.abort(call.signal.reason))
  const cancel = clock.schedule(NOTIFICATION_TIMEOUT, () => part.abort(new Error('no notification has come')))
  const channel = `leasehold_probe_${nanoid()}`
  let close = (): void => {}
  try {
    const heard = new Promise<void>((resolve, reject) => {
      const events = { onMessage: () => resolve(), onGap: () => {}, onEnd: () => reject(new Error('it has ended')) }
      const listening = notifications.listen?.(channel, events, part)
      listening
        ?.then((open) => {
          close = () => open.close()
          return operations.run(`select pg_notify('${channel}', '')`, part)
        }, reject)
        ?.catch(reject)
    })
    await untilAborted(heard, part)
    return { check, result: 'ok' }
  } catch (error) {
    if (call.aborted) throw error
    return {
      check,
      result: 'warning',
      setting: 'listen-url',
      found: `notifications do not arrive (${error instanceof Error ? error.message : String(error)}): waiters poll`,
      change: 'behind a PgBouncer, give listen-url (or listen) with the address of the server itself',
    }
  } finally {
    cancel()
    removeListener()
    close()
  }
}

async function failing<T>(call: StoreCall, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw call.aborted ? error : failureOf('the check of the store', '', error)
  }
}
