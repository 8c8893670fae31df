import { join } from 'node:path'
import { ServerClock } from '@leasehold/testing/server-clock'
import { Azurite } from '../../../../../packages/azure-blob/test/support/azurite.js'
import { clockFaults, clockLeftOut } from '../../servers/clock-faults.js'
import { ClientWay } from '../client-way.js'
import type { RunningSystem, System, SystemFault, SystemScene } from '../system.js'
import { type AzureBlobSettings, containers } from './settings.js'

/** The shortest ttl of the service. */
const timeouts = { ttl: 15_000, heartbeatInterval: 3_000, operationTimeout: 3_000 }

const CLOCK = { target: 'clock of server 1', back: timeouts.ttl / 3, forward: 2 * timeouts.ttl }

/**
 * One Azurite, the emulator of the service. It is frozen, and never ended: after a restart, also an orderly one, it reads the
 * instants at which leases expire as texts, and takes every lease as expired. The service loses nothing.
 *
 * Its clock is set back, and runs at a wrong rate. It is set forward only with `--with set-clock-forward`: leases then end early
 * in the emulator. Azure promises that a lease lasts as long as it was granted.
 */
export const azureBlobSystem: System = {
  name: 'azure-blob',
  title: 'one Azurite as Azure Blob Storage',
  timeouts,
  // A grant lasts longer by the steps of the clock.
  longestRecovery: 30_000,
  client: new URL('client.ts', import.meta.url),
  start,
}

async function start({ folder, clients }: SystemScene): Promise<RunningSystem> {
  const place = join(folder, 'azurite')
  const clock = ServerClock.make('threads')
  const server = await Azurite.start({ folder: place, clock })
  for (const name of Object.values(containers)) await server.container(name).create()
  const { port } = server
  const ways = await Promise.all(Array.from({ length: clients }, (_, at) => ClientWay.to([port], at + 1)))
  const target = 'server 1'
  const serverFaults: SystemFault[] = [
    {
      kind: 'freeze-server',
      target,
      lasts: [100, 12_000],
      begin: () => server.signal('SIGSTOP'),
      end: () => server.signal('SIGCONT'),
    },
  ]
  return {
    settingsFor(client): AzureBlobSettings {
      const { ports } = ways[client - 1] ?? { ports: [] }
      return { connectionString: server.connectionString(ports[0]), operationTimeout: timeouts.operationTimeout }
    },
    faults: [...serverFaults, ...clockFaults(clock, CLOCK), ...ways.flatMap(({ faults }) => faults)],
    leftOut: clockLeftOut(clock),
    async heal() {
      for (const way of ways) way.heal()
      await server.container(containers.leases).getProperties()
    },
    async stop() {
      await Promise.all(ways.map((way) => way.close()))
      await server.stop()
      clock?.remove()
    },
  }
}
