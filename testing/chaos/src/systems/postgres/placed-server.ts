import { PostgresServer } from '@leasehold/testing/postgres-server'
import { SmallDisk } from '@leasehold/testing/small-disk'

/** The name under which a primary knows its standby, whichever server that is. */
export const STANDBY = 'standby'

const SETTINGS = {
  synchronous_standby_names: STANDBY,
  // A standby that has lost its primary looks for it again after so long.
  wal_retrieve_retry_interval: '200ms',
  // Little of the log is kept, and none of its files is used again, so that it soon needs space.
  min_wal_size: '2MB',
  wal_keep_size: '8MB',
  wal_recycle: 'off',
}

/** Of a disk. */
const MEGABYTES = 120

/** A server on a disk of its own, if this process may mount one. */
export class PlacedServer {
  readonly server: PostgresServer
  readonly disk: SmallDisk | undefined

  private constructor(server: PostgresServer, disk: SmallDisk | undefined) {
    this.server = server
    this.disk = disk
  }

  /** Confirms nothing before it has a standby. */
  static primary(): Promise<PlacedServer> {
    // A file of the log has one megabyte.
    const initdb = ['--wal-segsize=1']
    return PlacedServer.#start((dir) => PostgresServer.start({ ...dir, settings: SETTINGS, initdb }))
  }

  static async #start(start: (dir: { readonly dir?: string }) => Promise<PostgresServer>): Promise<PlacedServer> {
    const disk = SmallDisk.mount(MEGABYTES)
    try {
      return new PlacedServer(await start(disk === undefined ? {} : { dir: disk.folder }), disk)
    } catch (error) {
      disk?.unmount()
      throw error
    }
  }

  /** Resolves when this server has another one as its standby. */
  standby(): Promise<PlacedServer> {
    return PlacedServer.#start((dir) => this.server.standby({ ...dir, settings: SETTINGS, name: STANDBY }))
  }

  async stop(): Promise<void> {
    await this.server.stop()
    this.disk?.unmount()
  }
}
