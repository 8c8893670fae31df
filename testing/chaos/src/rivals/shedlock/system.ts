import { whyNoPostgres } from '@leasehold/testing/postgres-binary'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { ClientWay } from '../../systems/client-way.js'
import type { RunningSystem, System, SystemFault, SystemScene } from '../../systems/system.js'
import type { ShedlockSettings } from './settings.js'

const timeouts = { ttl: 2_000, heartbeatInterval: 600, operationTimeout: 600 }

type Mode = Pick<ShedlockSettings, 'time' | 'clocks' | 'keepAlive'>

const variant = (name: string, title: string, mode: Mode): System => ({
  name,
  title: `ShedLock's algorithm ${title}, on one server of PostgreSQL; an unguarded register`,
  whyNot: whyNoPostgres,
  timeouts,
  longestRecovery: 10_000,
  client: new URL('client.ts', import.meta.url),
  start: (scene) => start(scene, mode),
})

const keepAlive = timeouts.heartbeatInterval

/** All variants. Only those with a keep-alive extend a lock; work that is longer than `lockAtMostFor` goes on without one. */
export const shedlockSystems: readonly System[] = [
  variant('shedlock', 'by the time of its clients, which agree', { time: 'client', clocks: 'synchronised' }),
  variant('shedlock-keep-alive', 'by the time of its clients, which agree, with its keep-alive', {
    time: 'client',
    clocks: 'synchronised',
    keepAlive,
  }),
  variant('shedlock-database-time', 'by the time of the database, with its keep-alive', {
    time: 'database',
    clocks: 'synchronised',
    keepAlive,
  }),
  // Its page says that the clocks have to agree.
  variant('shedlock-wrong-clocks', 'by the time of its clients, which is wrong, with its keep-alive', {
    time: 'client',
    clocks: 'wrong',
    keepAlive,
  }),
]

async function start({ clients }: SystemScene, mode: Mode): Promise<RunningSystem> {
  const server = await PostgresServer.start({ settings: { fsync: 'on' } })
  const columns = 'lock_until timestamp NOT NULL, locked_at timestamp NOT NULL, locked_by text NOT NULL'
  await server.query(`CREATE TABLE shedlock (name text PRIMARY KEY, ${columns})`)
  await server.query('CREATE TABLE registers (name text PRIMARY KEY, value text NOT NULL)')
  const ways = await Promise.all(Array.from({ length: clients }, (_, place) => ClientWay.to([server.port], place + 1)))
  const { port: registerPort, user, database } = server
  const { ttl: lockAtMostFor, operationTimeout } = timeouts
  return {
    settingsFor(client): ShedlockSettings {
      const [port = 0] = ways[client - 1]?.ports ?? []
      // As if each client ran on a host of its own: ShedLock takes the name of the host unless it is given another one.
      const place = { port, registerPort, user, database, lockedBy: `host-${client}` }
      return { ...place, lockAtMostFor, operationTimeout, ...mode }
    },
    faults: [...serverFaults(server), ...ways.flatMap(({ faults }) => faults)],
    async heal() {
      for (const way of ways) way.heal()
      await server.query('SELECT 1')
    },
    async stop() {
      await Promise.all(ways.map((way) => way.close()))
      await server.stop()
    },
  }
}

function serverFaults(server: PostgresServer): SystemFault[] {
  const target = 'server 1'
  return [
    { kind: 'kill-server', target, lasts: [100, 3_000], begin: () => server.kill(), end: () => server.restart() },
    { kind: 'freeze-server', target, lasts: [100, 5_000], begin: () => server.freeze(), end: () => server.thaw() },
  ]
}
