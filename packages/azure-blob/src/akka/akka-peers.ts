import { checkOptionNames } from '@leasehold/core/store-kit'
import { misconfigured } from '../azure-blob-options.js'

/** The settings of the .NET side, which its records do not contain. All in milliseconds. */
export interface AkkaPeerOptions {
  /** Its `heartbeat-timeout`, after which it counts as crashed; 120 s, Akka's default, unless given. */
  readonly heartbeatTimeout?: number | undefined
  /** Its `heartbeat-interval`; 12 s, Akka's default, unless given. */
  readonly heartbeatInterval?: number | undefined
  /** How far the clocks of its machines may be ahead of the service's clock; 5 s unless given. */
  readonly clockSkew?: number | undefined
}

export type AkkaPeers = Readonly<Record<keyof AkkaPeerOptions, number>>

/** Throws a `LeaseConfigurationError` for settings that are invalid in Akka. */
export function akkaPeers(options: AkkaPeerOptions = {}): AkkaPeers {
  const names = { heartbeatTimeout: true, heartbeatInterval: true, clockSkew: true } as const
  checkOptionNames<AkkaPeerOptions>('peers', options, names, { store: 'azure-blob' })
  const { heartbeatTimeout = 120_000, heartbeatInterval = 12_000, clockSkew = 5_000 } = options
  const peers = { heartbeatTimeout, heartbeatInterval, clockSkew }
  const isWhole = Object.values(peers).every((duration) => Number.isFinite(duration))
  if (isWhole && heartbeatInterval > 0 && clockSkew >= 0 && patienceOf(peers) > 0) return peers
  throw misconfigured(
    `the settings of the Akka side are invalid: its heartbeatTimeout (${heartbeatTimeout}) must be more than twice ` +
      `its heartbeatInterval (${heartbeatInterval}), and clockSkew (${clockSkew}) must be 0 or more`,
  )
}

/** Returns how long Akka waits after the time in a record before it takes over, in milliseconds, by its own wall clock. */
export function patienceOf({ heartbeatTimeout, heartbeatInterval }: AkkaPeers): number {
  return heartbeatTimeout - 2 * heartbeatInterval
}
