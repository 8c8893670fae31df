import { PostgresServer } from '@leasehold/testing/postgres-server'
import type { ServerClock } from '@leasehold/testing/server-clock'
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
  readonly #clock: ServerClock | undefined

  private constructor(server: PostgresServer, disk: SmallDisk | undefined, clock: ServerClock | undefined) {
    this.server = server
    this.disk = disk
    this.#clock = clock
  }

  /** Confirms nothing before it has a standby. `clock`: that of its standby, too. */
  static primary(clock: ServerClock | undefined): Promise<PlacedServer> {
    // A file of the log has one megabyte.
    const initdb = ['--wal-segsize=1']
    return PlacedServer.#start((dir) => PostgresServer.start({ ...dir, settings: SETTINGS, initdb, clock }), clock)
  }

  static async #start(
    start: (dir: { readonly dir?: string }) => Promise<PostgresServer>,
    clock: ServerClock | undefined,
  ): Promise<PlacedServer> {
    const disk = SmallDisk.mount(MEGABYTES)
    try {
      return new PlacedServer(await start(disk === undefined ? {} : { dir: disk.folder }), disk, clock)
    } catch (error) {
      disk?.unmount()
      throw error
    }
  }

  /** Resolves when this server has another one as its standby. */
  standby(): Promise<PlacedServer> {
    const clock = this.#clock
    return PlacedServer.#start(
      (dir) => this.server.standby({ ...dir, settings: SETTINGS, name: STANDBY, clock }),
      clock,
    )
  }

  async stop(): Promise<void> {
    await this.server.stop()
    this.disk?.unmount()
  }
}
