import { eventually } from '@leasehold/testing'
import type { PostgresServer } from '@leasehold/testing/postgres-server'
import type { ServerClock } from '@leasehold/testing/server-clock'
import { diskLeftOut, fullDisk } from '../../servers/full-disk.js'
import type { SystemFault } from '../system.js'
import { PlacedServer, STANDBY } from './placed-server.js'

/** How far the standby is, as its primary knows it; no row while it is not connected. */
const LAG = `select sync_state = 'sync' and flush_lsn >= pg_current_wal_lsn() as "hasAll"
  from pg_stat_replication where application_name = '${STANDBY}'`

const PRIMARY = 'server 1'

/** For how long a server is killed, or frozen, in milliseconds. */
const [DOWN, FROZEN] = [
  [100, 3_000],
  [100, 5_000],
] as const

/**
 * A primary and its synchronous standby, which takes its place. A commit is confirmed when both have it, so that nothing is
 * confirmed while the standby is away.
 */
export class ServerPair {
  readonly #onPromoted: (port: number) => void
  #primary: PlacedServer
  #standby: PlacedServer
  #isStandbyWell = true
  readonly #diskOfPrimary = {
    fill: (): void => this.#primary.disk?.fill(),
    free: (): void => this.#primary.disk?.free(),
  }
  /** What is done to the standby, in turn: a promotion and a fault of the standby would disturb each other. */
  #turn: Promise<unknown> = Promise.resolve()

  private constructor(primary: PlacedServer, standby: PlacedServer, onPromoted: (port: number) => void) {
    this.#primary = primary
    this.#standby = standby
    this.#onPromoted = onPromoted
  }

  /** `onPromoted` gets the port of each later primary. */
  static async start(clock: ServerClock | undefined, onPromoted: (port: number) => void): Promise<ServerPair> {
    const primary = await PlacedServer.primary(clock)
    try {
      const pair = new ServerPair(primary, await primary.standby(), onPromoted)
      await pair.heal()
      return pair
    } catch (error) {
      await primary.stop()
      throw error
    }
  }

  /** Of the primary. */
  get port(): number {
    return this.#primary.server.port
  }

  get faults(): readonly SystemFault[] {
    return [...this.#primaryFaults(), ...this.#standbyFaults()]
  }

  get leftOut(): readonly string[] {
    return diskLeftOut(this.#primary.disk)
  }

  /** Resolves when the standby has all. */
  async heal(): Promise<void> {
    await this.#turn
    await eventually('the standby has all', () => this.#hasAll())
  }

  async stop(): Promise<void> {
    await Promise.all([this.#primary.stop(), this.#standby.stop()])
  }

  #primaryFaults(): readonly SystemFault[] {
    const target = PRIMARY
    const restart = (): Promise<void> => this.#primary.server.restart()
    return [
      { kind: 'kill-server', target, lasts: DOWN, begin: () => this.#primary.server.kill(), end: restart },
      { kind: 'stop-server', target, lasts: DOWN, begin: () => this.#primary.server.shutDown(), end: restart },
      {
        kind: 'freeze-server',
        target,
        weight: 2,
        lasts: FROZEN,
        begin: () => this.#primary.server.freeze(),
        end: () => this.#primary.server.thaw(),
      },
      {
        kind: 'end-connections',
        target,
        lasts: [0, 0],
        begin: async () => void (await this.#primary.server.terminateBackends()),
        end: () => {},
      },
      { kind: 'promote', target, weight: 2, lasts: [0, 0], begin: () => this.#promote(), end: () => {} },
      ...fullDisk(this.#primary.disk === undefined ? undefined : this.#diskOfPrimary, {
        target,
        // More than the files of the log have room for.
        strain: async () => {
          const message = `select pg_logical_emit_message(false, 'fill', repeat('x', 30000000))`
          await this.#primary.server.query(message).catch(() => {})
        },
        // It ends itself when its log needs space, and cannot start again until there is some.
        mend: restart,
      }),
    ]
  }

  #standbyFaults(): readonly SystemFault[] {
    const target = 'server 2'
    const fault = (
      kind: string,
      lasts: readonly [number, number],
      hurt: (standby: PostgresServer) => Promise<void> | void,
      mend: (standby: PostgresServer) => Promise<void> | void,
    ): SystemFault => ({
      kind,
      target,
      lasts,
      weight: 0.5,
      begin: () =>
        this.#inTurn(async () => {
          this.#isStandbyWell = false
          await hurt(this.#standby.server)
        }),
      end: () =>
        this.#inTurn(async () => {
          await mend(this.#standby.server)
          this.#isStandbyWell = true
        }),
    })
    return [
      fault(
        'kill-server',
        DOWN,
        (standby) => standby.kill(),
        (standby) => standby.restart(),
      ),
      fault(
        'freeze-server',
        FROZEN,
        (standby) => standby.freeze(),
        (standby) => standby.thaw(),
      ),
    ]
  }

  /**
   * The standby takes the place of the primary, which is killed before, and never comes back. Only while it has all that the
   * primary has: a server that starts again, or ends a connection, shows commits that wait for the standby.
   */
  #promote(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#isStandbyWell || !(await this.#hasAll())) return
      const old = this.#primary
      await old.server.kill()
      await this.#standby.server.promote()
      this.#primary = this.#standby
      this.#onPromoted(this.port)
      await old.stop()
      this.#standby = await this.#primary.standby()
    })
  }

  async #hasAll(): Promise<boolean> {
    const [row] = await this.#primary.server.query<{ hasAll: boolean }>(LAG)
    return row?.hasAll === true
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(act)
    this.#turn = done.catch(() => {})
    return done
  }
}
