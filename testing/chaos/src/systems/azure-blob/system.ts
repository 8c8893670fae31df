import { join } from 'node:path'
import { Azurite } from '../../../../../packages/azure-blob/test/support/azurite.js'
import { ClientWay } from '../client-way.js'
import type { RunningSystem, System, SystemFault, SystemScene } from '../system.js'
import { type AzureBlobSettings, containers } from './settings.js'

/** The shortest ttl of the service. */
const timeouts = { ttl: 15_000, heartbeatInterval: 3_000, operationTimeout: 3_000 }

/**
 * One Azurite, the emulator of the service. It is frozen, and never ended: after a restart, also an orderly one, it reads the
 * instants at which leases expire as texts, and takes every lease as expired. The service loses nothing.
 */
export const azureBlobSystem: System = {
  name: 'azure-blob',
  title: 'one Azurite as Azure Blob Storage',
  timeouts,
  longestRecovery: 25_000,
  client: new URL('client.ts', import.meta.url),
  start,
}

async function start({ folder, clients }: SystemScene): Promise<RunningSystem> {
  const place = join(folder, 'azurite')
  const server = await Azurite.start({ folder: place })
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
    faults: [...serverFaults, ...ways.flatMap(({ faults }) => faults)],
    async heal() {
      for (const way of ways) way.heal()
      await server.container(containers.leases).getProperties()
    },
    async stop() {
      await Promise.all(ways.map((way) => way.close()))
      await server.stop()
    },
  }
}
