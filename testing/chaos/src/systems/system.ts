import type { Clock, Lease, LeaseStore } from '@leasehold/core'

/** A store as the chaos tests see it: how its servers are started and disturbed, and how a client process uses it. */
export interface System {
  /** As on the command line. */
  readonly name: string
  /** What is started, for reports: `3 servers of etcd 3.5`. */
  readonly title: string
  /** Why it cannot be run on this machine; `undefined` where it can. */
  readonly whyNot?: string | undefined
  readonly timeouts: {
    /** In milliseconds: short ones, as far as the store takes them. */
    readonly ttl: number
    readonly heartbeatInterval: number
    readonly operationTimeout: number
  }
  /**
   * The longest time without a holder after the last fault, in milliseconds, on a busy machine: the longest remainder of a
   * grant, an election of the servers, a new connection.
   */
  readonly longestRecovery: number
  /** The module of the client processes: its default export is a `Connect`. */
  readonly client: URL
  start(scene: SystemScene): Promise<RunningSystem>
}

export interface SystemScene {
  /** An empty folder for data and logs, which is removed after the run. */
  readonly folder: string
  /** The number of client processes, each of which has its own way to the servers, which can be cut. */
  readonly clients: number
  /** The names that the clients contend for; each has its own guarded register. */
  readonly names: readonly string[]
}

export interface RunningSystem {
  /** What the client process with this number gets, as JSON. The same for each of its lives. */
  settingsFor(client: number): unknown
  /** What can be done to the servers and the network between. The runner kills and stops client processes itself. */
  readonly faults: readonly SystemFault[]
  /** Faults that cannot be carried out on this machine, and why: a line each, for the report. */
  readonly leftOut?: readonly string[]
  /** Ends all faults and waits until the servers are well: all members are there, and have a leader. */
  heal(): Promise<void>
  /** Ends the servers. */
  stop(): Promise<void>
}

/** A fault that the nemesis can draw. */
export interface SystemFault {
  /** Such as `kill-server`, `freeze-server`, `cut-client`, `delay-client`, `promote`, `shift-clock`, `fill-disk`. */
  readonly kind: string
  /** Such as `server 1`: faults with the same target never overlap. */
  readonly target: string
  /** How often it is drawn, compared with the others; 1 unless given. */
  readonly weight?: number
  /** The shortest and longest duration in milliseconds. */
  readonly lasts: readonly [number, number]
  /** For a fault with a size, such as a step of a clock: its bound in both directions. */
  readonly most?: number
  /** `amount`: as it was drawn, for a fault with a size. */
  begin(drawn?: { readonly amount?: number }): Promise<void> | void
  /** Must leave the servers as they were; called also when the run ends early. */
  end(): Promise<void> | void
}

/**
 * Called once in a client process. The clock drifts, within the documented bound: a store that measures time on the side of
 * the client gets it as its `clock`.
 */
export type Connect = (settings: never, names: readonly string[], clock: Clock) => Promise<Connection | RivalConnection>

export interface Connection {
  readonly store: LeaseStore
  /** The guarded register of the name: the guard of the same backend, where the package has one. */
  register(name: string): GuardedRegister
  close(): Promise<void>
}

/** Of another library, which brings its own leases. */
export interface RivalConnection extends Omit<Connection, 'store'> {
  /** While held, it has a fencing token, and says until when it is valid. */
  lease(name: string, owner: string, clock: Clock): Lease
}

export interface GuardedRegister {
  /** `refused`: the guard has seen a larger token. Rejects where the outcome is unknown. */
  write(value: string, token: bigint): Promise<'accepted' | 'refused'>
  /** The value of the last accepted write; strongly consistent. `undefined` before the first. */
  read(): Promise<string | undefined>
}
