import { migrate } from '@leasehold/mysql'
import { type MysqlKind, mysqlPrograms } from '@leasehold/testing/mysql-program'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import { createPool } from 'mysql2/promise'
import { Member, outages } from '../../servers/member.js'
import { ClientWay } from '../client-way.js'
import type { RunningSystem, System, SystemScene } from '../system.js'
import { type MysqlClientSettings, REGISTERS } from './settings.js'

const timeouts = { ttl: 2_500, heartbeatInterval: 500, operationTimeout: 700 }

/**
 * One server that writes every transaction to disk before it answers. It is killed, frozen and started again. There is no
 * replica: replication is asynchronous by default, so that a promotion may lose a grant, which the package says. The clock of
 * the server is not shifted: all expiries go by it.
 */
function systemOf(kind: MysqlKind, title: string): System {
  return {
    name: kind,
    title: `one server of ${title}, with innodb_flush_log_at_trx_commit 1`,
    whyNot: mysqlPrograms[kind].whyNot,
    timeouts,
    longestRecovery: 12_000,
    client: new URL('client.ts', import.meta.url),
    start: (scene) => startMysql(kind, scene),
  }
}

export const mysqlSystem = systemOf('mysql', 'MySQL')
export const mariadbSystem = systemOf('mariadb', 'MariaDB')

async function startMysql(kind: MysqlKind, { clients, names }: SystemScene): Promise<RunningSystem> {
  const server = await MysqlServer.start(kind, { settings: { 'innodb-flush-log-at-trx-commit': 1 } })
  await prepare(server, names)
  const member = new Member({
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    kill: () => server.kill(),
    launch: () => server.restart(),
    ready: async () => void (await server.query('select 1')),
  })
  const ways = await Promise.all(Array.from({ length: clients }, (_, place) => ClientWay.to([server.port], place + 1)))
  return {
    settingsFor(client): MysqlClientSettings {
      const [port = 0] = ways[client - 1]?.ports ?? []
      return { port, operationTimeout: timeouts.operationTimeout }
    },
    faults: [...outages(member, 'server 1', 'server'), ...ways.flatMap(({ faults }) => faults)],
    async heal() {
      for (const way of ways) way.heal()
      await member.heal()
      await member.server.ready()
    },
    async stop() {
      await Promise.all(ways.map((way) => way.close()))
      await server.stop()
    },
  }
}

/** Makes the tables of the leases and of the registers. */
async function prepare({ host, port, user, database }: MysqlServer, names: readonly string[]): Promise<void> {
  const pool = createPool({ host, port, user, database })
  try {
    await migrate(pool)
    await pool.query(`create table ${REGISTERS} (name varchar(99) primary key, value varchar(199))`)
    for (const name of names) await pool.query(`insert into ${REGISTERS} (name) values (?)`, [name])
  } finally {
    await pool.end()
  }
}
