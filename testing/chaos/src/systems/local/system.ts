import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SmallDisk } from '@leasehold/testing/small-disk'
import { diskLeftOut, fullDisk } from '../../servers/full-disk.js'
import type { RunningSystem, System, SystemScene } from '../system.js'
import type { LocalClientSettings } from './settings.js'

/** Of the disk. */
const MEGABYTES = 32

/**
 * A folder of this machine. There is no server and no network: the faults are those of the runner, which kills and stops the
 * client processes, also within a change of the files; and a full disk, where this process may mount a small one.
 *
 * The folder is not removed and not restored while leases are held: another owner can then be granted the name, which the
 * package says.
 */
export const localSystem: System = {
  name: 'local',
  title: 'a folder of this machine',
  timeouts: { ttl: 2_000, heartbeatInterval: 400, operationTimeout: 600 },
  longestRecovery: 6_000,
  client: new URL('client.ts', import.meta.url),
  start,
}

function start({ folder }: SystemScene): Promise<RunningSystem> {
  const disk = SmallDisk.mount(MEGABYTES)
  const place = disk?.folder ?? folder
  const [leases, registers] = [join(place, 'leases'), join(place, 'registers')]
  mkdirSync(registers)
  return Promise.resolve({
    settingsFor: (): LocalClientSettings => ({ leases, registers }),
    faults: fullDisk(disk, { target: 'disk', weight: 2 }),
    leftOut: diskLeftOut(disk),
    heal: () => Promise.resolve(),
    stop: async () => disk?.unmount(),
  })
}
