import { migrate } from '@leasehold/mysql'
import { type MysqlKind, mysqlPrograms } from '@leasehold/testing/mysql-program'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import { ServerClock } from '@leasehold/testing/server-clock'
import { SmallDisk } from '@leasehold/testing/small-disk'
import { createPool } from 'mysql2/promise'
import { clockFaults, clockLeftOut } from '../../servers/clock-faults.js'
import { diskLeftOut, fullDisk } from '../../servers/full-disk.js'
import { Member, outages } from '../../servers/member.js'
import { ClientWay } from '../client-way.js'
import type { RunningSystem, System, SystemScene } from '../system.js'
import { type MysqlClientSettings, REGISTERS } from './settings.js'

const timeouts = { ttl: 2_500, heartbeatInterval: 500, operationTimeout: 700 }

const SERVER = 'server 1'

const CLOCK = { target: 'clock of server 1', back: timeouts.ttl / 2, forward: 2 * timeouts.ttl }

/** Of the disk: the data of a new MySQL has a hundred. */
const MEGABYTES = 512

/** The server needs room for the binary log with each transaction. */
const SETTINGS = { 'innodb-flush-log-at-trx-commit': 1, 'log-bin': 'binlog', 'sync-binlog': 1, 'server-id': 1 }

/**
 * One server that writes every transaction, and its binary log, to disk before it answers. It is killed, frozen and started
 * again. Its disk is full for a while, where this process may mount a small one: it waits for room then, and is started again.
 * There is no replica: replication is asynchronous by default, so that a promotion may lose a grant, which the package says.
 *
 * Its clock is set back, and runs at a wrong rate. It is set forward only with `--with set-clock-forward`: leases then end early
 * on the server, which is a documented limit.
 */
function systemOf(kind: MysqlKind, title: string): System {
  return {
    name: kind,
    title: `one server of ${title}, with innodb_flush_log_at_trx_commit 1`,
    whyNot: mysqlPrograms[kind].whyNot,
    timeouts,
    // A grant lasts longer by the steps of the clock.
    longestRecovery: 14_000,
    client: new URL('client.ts', import.meta.url),
    start: (scene) => startMysql(kind, scene),
  }
}

export const mysqlSystem = systemOf('mysql', 'MySQL')
export const mariadbSystem = systemOf('mariadb', 'MariaDB')

async function startMysql(kind: MysqlKind, { clients, names }: SystemScene): Promise<RunningSystem> {
  const disk = SmallDisk.mount(MEGABYTES)
  const clock = ServerClock.make('threads')
  const server = await MysqlServer.start(kind, { settings: SETTINGS, dir: disk?.folder, clock })
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
    faults: [
      ...outages(member, SERVER, 'server'),
      ...fullDisk(disk, { target: SERVER, mend: () => server.restart() }),
      ...clockFaults(clock, CLOCK),
      ...ways.flatMap(({ faults }) => faults),
    ],
    leftOut: [...clockLeftOut(clock), ...diskLeftOut(disk)],
    async heal() {
      for (const way of ways) way.heal()
      await member.heal()
      await member.server.ready()
    },
    async stop() {
      await Promise.all(ways.map((way) => way.close()))
      await server.stop()
      disk?.unmount()
      clock?.remove()
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
