import type { ContainerClient } from '@azure/storage-blob'
import { type Clock, systemClock } from '@leasehold/core'
import { type CasStore, casStore } from '@leasehold/core/store'
import { checkOptionNames, clockErrorOf } from '@leasehold/core/store-kit'
import { METADATA_ROOM } from '../stored-grant.js'
import { AkkaBlobRegister } from './akka-blob-register.js'
import { type AkkaPeerOptions, akkaPeers } from './akka-peers.js'

/** The longest ttl, in milliseconds. */
const LONGEST = 3_600_000

/** The servers of a region take their time from the same source. In milliseconds. */
const CLOCK_DIFFERENCE = 2_000

export interface AkkaBlobStoreOptions {
  /** Whether to create the container and the blobs if they are missing; `true` unless given. */
  readonly create?: boolean | undefined
  /** The settings of the .NET side; Akka's defaults unless given. */
  readonly peers?: AkkaPeerOptions | undefined
  /**
   * The largest difference between the clocks of two servers of the service, in milliseconds; 2 s unless given. A challenger
   * that has just started replaces a dead holder this time and 2 s after the ttl. `Infinity`: it trusts no clock of the
   * service, and observes each record for a ttl.
   */
  readonly clockDifference?: number | undefined
  /** The clock for the observation of records; the machine's unless given. */
  readonly clock?: Clock | undefined
}

/**
 * A store in the layout of Akka.Coordination.Azure, in the content of blobs, so that Node and .NET workers contend for the
 * same lease. A lease of Akka is taken over only after it was unchanged for Akka's whole time-out, as seen by this process or by two times
 * of the service. A lease of this
 * store has a time in its record that makes Akka wait for a whole ttl. Akka's default container is
 * `akka-coordination-lease`. The store has no `raiseToken`, because a write of Akka removes the token. Throws a `LeaseConfigurationError` for an unknown option, and for settings that are invalid in
 * Akka.
 */
export function akkaBlobStore(container: ContainerClient, options: AkkaBlobStoreOptions = {}): CasStore {
  const names = { create: true, peers: true, clockDifference: true, clock: true } as const
  checkOptionNames<AkkaBlobStoreOptions>('akkaBlobStore', options, names, { store: 'azure-blob' })
  const { create = true, clockDifference = CLOCK_DIFFERENCE, clock = systemClock } = options
  const peers = akkaPeers(options.peers)
  const register = new AkkaBlobRegister(container, create, peers, clock, clockErrorOf('azure-blob', clockDifference))
  const maxTtl = Math.max(LONGEST, peers.heartbeatTimeout)
  // The service keeps the conditions of all writes.
  return casStore(register, { clock, maxTtl, metadata: METADATA_ROOM, probe: false })
}
