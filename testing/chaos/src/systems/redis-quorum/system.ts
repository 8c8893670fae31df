import { redisProgram } from '@leasehold/testing/redis-program'
import { RedisServer } from '@leasehold/testing/redis-server'
import { ServerClock } from '@leasehold/testing/server-clock'
import { clockFaults, clockLeftOut } from '../../servers/clock-faults.js'
import { runCluster } from '../../servers/cluster.js'
import type { RunningSystem, System, SystemScene } from '../system.js'
import type { RedisQuorumClientSettings } from './settings.js'

const timeouts = { ttl: 2_500, heartbeatInterval: 500, operationTimeout: 700 }

/** Of the leases. One more keeps the registers. */
const MEMBERS = 5

/** Of their clocks. */
const STEPS = { back: timeouts.ttl / 2, forward: 2 * timeouts.ttl }

/**
 * Five independent servers that write every change to disk before they answer. Each is killed, frozen and started again, also
 * several at a time, so that there is no majority for a while.
 *
 * Each has a clock of its own, which is set back, and runs at a wrong rate. The clocks are set forward only with `--with
 * set-clock-forward`: a lease then ends early on that server, which is a documented limit.
 */
export const redisQuorumSystem: System = {
  name: 'redis-quorum',
  title: `${MEMBERS} servers of Redis, with appendfsync always, and one more for the registers`,
  whyNot: redisProgram.whyNot,
  timeouts,
  // A grant lasts longer by the steps of the clocks.
  longestRecovery: 12_000,
  client: new URL('client.ts', import.meta.url),
  start: startQuorum,
}

async function startQuorum({ clients }: SystemScene): Promise<RunningSystem> {
  const clocks = Array.from({ length: MEMBERS }, () => ServerClock.make('threads'))
  const servers = await Promise.all(Array.from({ length: MEMBERS + 1 }, (_, place) => startServer(clocks[place])))
  const running = await runCluster({
    servers,
    clients,
    settings: (ports): RedisQuorumClientSettings => ({
      ports: ports.slice(0, MEMBERS),
      registerPort: ports[MEMBERS] ?? 0,
      operationTimeout: timeouts.operationTimeout,
    }),
    faults: () =>
      clocks.flatMap((clock, place) => clockFaults(clock, { ...STEPS, target: `clock of server ${place + 1}` })),
    stop: async () => {
      for (const clock of clocks) clock?.remove()
    },
  })
  return { ...running, leftOut: clockLeftOut(clocks[0]) }
}

async function startServer(clock: ServerClock | undefined) {
  const server = await RedisServer.start({ args: ['--appendonly', 'yes', '--appendfsync', 'always'], clock })
  return {
    port: server.port,
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    kill: () => server.kill(),
    launch: () => server.restart(),
    ready: async () => void (await server.command('PING')),
    stop: () => server.stop(),
  }
}
