import { RedisServer } from '@leasehold/testing/redis-server'
import { ClientWay } from '../systems/client-way.js'
import type { RunningSystem, SystemFault, SystemScene } from '../systems/system.js'

/** What a client process of a library with locks in Redis gets. Durations are milliseconds. */
export interface RedisLocksSettings {
  /** Of its own proxies, in front of the servers with the locks. */
  readonly ports: readonly number[]
  /** Of the server with the registers, to which nothing happens. */
  readonly registerPort: number
  readonly ttl: number
  readonly heartbeatInterval: number
  readonly operationTimeout: number
}

/**
 * Servers with locks, which write every change to disk before they answer, so that a restart loses none; and one server with
 * the registers, the resource that the locks protect.
 */
export async function startRedisLocks(
  { clients }: SystemScene,
  count: number,
  timeouts: Pick<RedisLocksSettings, 'ttl' | 'heartbeatInterval' | 'operationTimeout'>,
): Promise<RunningSystem> {
  const args = ['--appendonly', 'yes', '--appendfsync', 'always']
  const servers = await Promise.all(Array.from({ length: count }, () => RedisServer.start({ args })))
  const registers = await RedisServer.start()
  const ports = servers.map(({ port }) => port)
  const ways = await Promise.all(Array.from({ length: clients }, (_, place) => ClientWay.to(ports, place + 1)))
  return {
    settingsFor(client): RedisLocksSettings {
      return { ...timeouts, ports: ways[client - 1]?.ports ?? [], registerPort: registers.port }
    },
    faults: [...servers.flatMap(faultsOf), ...ways.flatMap(({ faults }) => faults)],
    async heal() {
      for (const way of ways) way.heal()
      await Promise.all(servers.map((server) => server.command('PING')))
    },
    async stop() {
      await Promise.all(ways.map((way) => way.close()))
      await Promise.all([...servers, registers].map((server) => server.stop()))
    },
  }
}

function faultsOf(server: RedisServer, place: number): SystemFault[] {
  const target = `server ${place + 1}`
  return [
    { kind: 'kill-server', target, lasts: [100, 3_000], begin: () => server.kill(), end: () => server.restart() },
    { kind: 'freeze-server', target, lasts: [100, 5_000], begin: () => server.freeze(), end: () => server.thaw() },
  ]
}
