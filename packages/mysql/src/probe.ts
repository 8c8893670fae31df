import type { StoreCall, StoreFinding } from '@leasehold/core/store'
import { clockFinding, wallTime } from '@leasehold/core/store-kit'
import { textIn } from './client/answer.js'
import type { ClientAdapter } from './client/client-adapter.js'
import { failureOf } from './failure-of.js'

/** Settings by their names on the server; those that it does not have are absent. */
type Settings = ReadonlyMap<string, string>

/** Variables that decide whether the server keeps leases. */
const VARIABLES = [
  ...['autocommit', 'default_storage_engine', 'innodb_flush_log_at_trx_commit', 'innodb_read_only', 'log_bin'],
  ...['read_only', 'rpl_semi_sync_master_enabled', 'rpl_semi_sync_source_enabled', 'sync_binlog', 'version'],
  ...['wsrep_cluster_address', 'wsrep_on', 'group_replication_single_primary_mode'],
]

/** The oldest versions that have `skip locked`. */
const OLDEST = { mysql: [8, 0], mariadb: [10, 6] } as const

/** Everything that decides whether the server keeps leases. Writes nothing. */
export async function probeServer(adapter: ClientAdapter, call: StoreCall): Promise<readonly StoreFinding[]> {
  const asked = wallTime()
  const settings = await settingsOf(adapter, call)
  const clock = clockFinding(Number(settings.get('now')), asked, wallTime())
  return [versionOf(settings), roleOf(settings), durabilityOf(settings), clusterOf(settings), clock]
}

async function settingsOf(adapter: ClientAdapter, call: StoreCall): Promise<Settings> {
  const names = VARIABLES.map((name) => `'${name}'`).join(', ')
  try {
    const now = textIn(
      await adapter.run(
        "select timestampdiff(microsecond, timestamp'1970-01-01 00:00:00', utc_timestamp(6)) div 1000 as answer",
        call,
      ),
    )
    const { rows } = await adapter.run(`show global variables where variable_name in (${names})`, call)
    const found = rows.map((row) => Object.values(row as object).map(String))
    return new Map([
      ['now', now ?? ''],
      ...found.map(([name = '', value = '']) => [name.toLowerCase(), value] as const),
    ])
  } catch (error) {
    throw call.aborted ? error : failureOf('the check of the store', '', error)
  }
}

function versionOf(settings: Settings): StoreFinding {
  const check = 'version'
  const version = settings.get('version') ?? ''
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const kind = /mariadb/i.test(version) ? 'mariadb' : 'mysql'
  const [oldestMajor, oldestMinor] = OLDEST[kind]
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) {
    return { check, result: 'ok', found: version }
  }
  return {
    check,
    result: 'failed',
    setting: 'url',
    found: `the server has version ${version}, which knows no skip locked`,
    change: 'use MySQL 8.0, MariaDB 10.6, or later',
  }
}

function roleOf(settings: Settings): StoreFinding {
  const check = 'role'
  const setting = ['read_only', 'innodb_read_only'].find((name) => isOn(settings.get(name)))
  if (setting === undefined) return { check, result: 'ok' }
  return {
    check,
    result: 'failed',
    setting: 'url',
    found: `${setting} is on: the server is a replica, or behind its primary`,
    change: 'connect to the primary',
  }
}

function durabilityOf(settings: Settings): StoreFinding {
  const check = 'durability'
  const flush = settings.get('innodb_flush_log_at_trx_commit') ?? '1'
  const setting = 'innodb_flush_log_at_trx_commit'
  if (flush !== '1') {
    return {
      check,
      result: 'warning',
      setting,
      found: `${setting} is ${flush}: a crash can lose the grants of the last second, and grant them again`,
      change: 'set it to 1',
    }
  }
  if (!isOn(settings.get('log_bin')) || settings.get('sync_binlog') === '1') return { check, result: 'ok' }
  return {
    check,
    result: 'warning',
    setting: 'sync_binlog',
    found: `sync_binlog is ${settings.get('sync_binlog')}: a crash of the machine can lose grants, and grant them again`,
    change: 'set it to 1',
  }
}

function clusterOf(settings: Settings): StoreFinding {
  const check = 'replication'
  const isGalera = isOn(settings.get('wsrep_on'))
  const isMultiPrimary = settings.get('group_replication_single_primary_mode') === 'OFF'
  if (isGalera || isMultiPrimary) {
    return {
      check,
      result: 'warning',
      found: `${isGalera ? 'Galera' : 'Group Replication with several primaries'}: transactUnderLease locks on one node only`,
      change: 'send all writers to one node, or protect writes by transact, whose tokens all nodes compare',
    }
  }
  const isSemiSync =
    isOn(settings.get('rpl_semi_sync_source_enabled')) || isOn(settings.get('rpl_semi_sync_master_enabled'))
  if (isSemiSync) return { check, result: 'ok', found: 'a replica confirms commits' }
  return {
    check,
    result: 'ok',
    found:
      'replicas, if there are some, follow with a delay: check fencing tokens at the resource, which outlast a failover',
  }
}

function isOn(value: string | undefined): boolean {
  return value === 'ON' || value === '1' || value === 'YES'
}
