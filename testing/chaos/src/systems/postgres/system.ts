import { migrate } from '@leasehold/postgres'
import { whyNoPostgres } from '@leasehold/testing/postgres-binary'
import { ServerClock } from '@leasehold/testing/server-clock'
import { clockFaults, clockLeftOut } from '../../servers/clock-faults.js'
import { ClientWay } from '../client-way.js'
import type { RunningSystem, System, SystemScene } from '../system.js'
import { poolTo } from './pool-to.js'
import { createRegisters } from './register.js'
import { ServerPair } from './server-pair.js'
import type { PostgresClientSettings } from './settings.js'

const timeouts = { ttl: 3_000, heartbeatInterval: 500, operationTimeout: 800 }

const CLOCK = { target: 'clock of the servers', back: timeouts.ttl / 2, forward: 2 * timeouts.ttl }

/**
 * A primary and its synchronous standby. Both are killed and frozen; the primary is ended in an orderly way, too, and ends the
 * connections of its clients. The standby is promoted after the primary was killed, and another one is made. The disk of the
 * primary is full for a while, where this process may mount a small one.
 *
 * Both have one clock, as on one machine. It is set back, and runs at a wrong rate. It is set forward only with `--with
 * set-clock-forward`: leases then end early on the server, which is a documented limit.
 *
 * An asynchronous standby is left out: it may lack a confirmed grant when it is promoted, which the package says. The servers write without `fsync`: the machine does not crash, and a kill of the processes loses nothing
 * that they have written.
 */
export const postgresSystem: System = {
  name: 'postgres',
  title: 'a primary of PostgreSQL with a synchronous standby',
  whyNot: whyNoPostgres,
  timeouts,
  // A busy machine takes seconds to recover a server, and to make another standby.
  longestRecovery: 20_000,
  client: new URL('client.ts', import.meta.url),
  start,
}

async function start({ clients }: SystemScene): Promise<RunningSystem> {
  const ways: ClientWay[] = []
  const clock = ServerClock.make('processes')
  const pair = await ServerPair.start(clock, (port) => {
    for (const way of ways) way.retarget([port])
  })
  try {
    await prepare(pair.port)
  } catch (error) {
    await pair.stop()
    throw error
  }
  for (let client = 1; client <= clients; client += 1) ways.push(await ClientWay.to([pair.port], client))
  return {
    settingsFor(client): PostgresClientSettings {
      const [port = 0] = ways[client - 1]?.ports ?? []
      return { port, operationTimeout: timeouts.operationTimeout }
    },
    faults: [...pair.faults, ...clockFaults(clock, CLOCK), ...ways.flatMap(({ faults }) => faults)],
    leftOut: [...clockLeftOut(clock), ...pair.leftOut],
    async heal() {
      for (const way of ways) way.heal()
      await pair.heal()
    },
    async stop() {
      await Promise.all(ways.map((way) => way.close()))
      await pair.stop()
      clock?.remove()
    },
  }
}

/** Makes the tables of the leases and of the registers. */
async function prepare(port: number): Promise<void> {
  const pool = poolTo({ port, operationTimeout: 30_000 }, 1)
  await migrate(pool)
  await pool.query(createRegisters)
  await pool.end()
}
