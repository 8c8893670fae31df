import { redisProgram } from '@leasehold/testing/redis-program'
import { RedisServer } from '@leasehold/testing/redis-server'
import { ServerClock } from '@leasehold/testing/server-clock'
import { SmallDisk } from '@leasehold/testing/small-disk'
import { clockFaults, clockLeftOut } from '../../servers/clock-faults.js'
import { diskLeftOut, fullDisk } from '../../servers/full-disk.js'
import { ClientWay } from '../client-way.js'
import type { RunningSystem, System, SystemFault, SystemScene } from '../system.js'
import type { RedisClientSettings } from './settings.js'

const timeouts = { ttl: 2_000, heartbeatInterval: 400, operationTimeout: 600 }

const CLOCK = { target: 'clock of server 1', back: timeouts.ttl / 2, forward: 2 * timeouts.ttl }

/** Of the disk. */
const MEGABYTES = 64

/**
 * One server that writes every change to disk before it answers. It is killed, frozen and restarted; its disk is full for a
 * while, which ends it, where this process may mount a small one. There is no replica: replication is asynchronous, so that a
 * promotion may lose a grant, which the package says.
 *
 * Its clock is set back, and runs at a wrong rate. It is set forward only with `--with set-clock-forward`: leases then end early
 * on the server, while their holders count on them, which is a documented limit.
 */
export const redisSystem: System = {
  name: 'redis',
  title: 'one server of Redis, with appendfsync always',
  whyNot: redisProgram.whyNot,
  timeouts,
  // A grant lasts longer by the steps of the clock.
  longestRecovery: 10_000,
  client: new URL('client.ts', import.meta.url),
  start: startRedis,
}

async function startRedis({ folder, clients }: SystemScene): Promise<RunningSystem> {
  const disk = SmallDisk.mount(MEGABYTES)
  const clock = ServerClock.make('threads')
  // The log of commands is rewritten before it fills the disk.
  const args = ['--appendonly', 'yes', '--appendfsync', 'always', '--auto-aof-rewrite-min-size', '8mb']
  const server = await RedisServer.start({ dir: disk?.folder ?? folder, args, clock })
  const ways = await Promise.all(Array.from({ length: clients }, (_, place) => ClientWay.to([server.port], place + 1)))
  return {
    settingsFor(client): RedisClientSettings {
      const [port = 0] = ways[client - 1]?.ports ?? []
      return { port, operationTimeout: timeouts.operationTimeout }
    },
    faults: [...serverFaults(server, disk), ...clockFaults(clock, CLOCK), ...ways.flatMap(({ faults }) => faults)],
    leftOut: [...clockLeftOut(clock), ...diskLeftOut(disk)],
    async heal() {
      for (const way of ways) way.heal()
      await server.command('PING')
    },
    async stop() {
      await Promise.all(ways.map((way) => way.close()))
      await server.stop()
      disk?.unmount()
      clock?.remove()
    },
  }
}

function serverFaults(server: RedisServer, disk: SmallDisk | undefined): SystemFault[] {
  const target = 'server 1'
  return [
    {
      kind: 'kill-server',
      target,
      weight: 2,
      lasts: [100, 3_000],
      begin: () => server.kill(),
      end: () => server.restart(),
    },
    {
      kind: 'freeze-server',
      target,
      weight: 2,
      lasts: [100, 5_000],
      begin: () => server.freeze(),
      end: () => server.thaw(),
    },
    ...fullDisk(disk, { target, mend: () => server.restart() }),
  ]
}
