import { migrate } from '@leasehold/postgres'
import { whyNoPostgres } from '@leasehold/testing/postgres-binary'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { ClientWay } from '../client-way.js'
import type { RunningSystem, System, SystemFault, SystemScene } from '../system.js'
import { poolTo } from './pool-to.js'
import { createRegisters } from './register.js'
import type { PostgresClientSettings } from './settings.js'

const timeouts = { ttl: 3_000, heartbeatInterval: 500, operationTimeout: 800 }

/**
 * One server, which is killed, ended in an orderly way, started again and frozen, and which ends the connections of its
 * clients.
 *
 * There is no standby: an asynchronous one may lack a confirmed grant when it is promoted, which the package says. The clock of
 * the server is not shifted: leases expire by it, so that a step forward ends them early on the server, which is a documented
 * limit. The server writes without `fsync`: the machine does not crash, and a kill of the processes loses nothing that they have
 * written.
 */
export const postgresSystem: System = {
  name: 'postgres',
  title: 'one server of PostgreSQL',
  whyNot: whyNoPostgres,
  timeouts,
  // A busy machine takes seconds to recover the server.
  longestRecovery: 15_000,
  client: new URL('client.ts', import.meta.url),
  start,
}

async function start({ clients }: SystemScene): Promise<RunningSystem> {
  const server = await PostgresServer.start()
  await prepare(server)
  const ways = await Promise.all(Array.from({ length: clients }, (_, place) => ClientWay.to([server.port], place + 1)))
  return {
    settingsFor(client): PostgresClientSettings {
      const [port = 0] = ways[client - 1]?.ports ?? []
      return { port, operationTimeout: timeouts.operationTimeout }
    },
    faults: [...serverFaults(server), ...ways.flatMap(({ faults }) => faults)],
    async heal() {
      for (const way of ways) way.heal()
      await server.query('select 1')
    },
    async stop() {
      await Promise.all(ways.map((way) => way.close()))
      await server.stop()
    },
  }
}

/** Makes the tables of the leases and of the registers. */
async function prepare(server: PostgresServer): Promise<void> {
  const pool = poolTo({ port: server.port, operationTimeout: 30_000 }, 1)
  await migrate(pool)
  await pool.query(createRegisters)
  await pool.end()
}

function serverFaults(server: PostgresServer): SystemFault[] {
  const target = 'server 1'
  return [
    { kind: 'kill-server', target, lasts: [100, 3_000], begin: () => server.kill(), end: () => server.restart() },
    { kind: 'stop-server', target, lasts: [100, 3_000], begin: () => server.shutDown(), end: () => server.restart() },
    {
      kind: 'freeze-server',
      target,
      weight: 2,
      lasts: [100, 5_000],
      begin: () => server.freeze(),
      end: () => server.thaw(),
    },
    {
      kind: 'end-connections',
      target,
      lasts: [0, 0],
      begin: async () => void (await server.terminateBackends()),
      end: () => {},
    },
  ]
}
