import type { ContainerClient } from '@azure/storage-blob'
import { type CasStore, type Clock, casStore, systemClock } from '@leasehold/core'
import { AkkaBlobRegister } from './akka-blob-register.js'
import { type AkkaPeerOptions, akkaPeers } from './akka-peers.js'

/** Of a lease that both sides may hold, in milliseconds. */
const LONGEST = 3_600_000

export interface AkkaBlobStoreOptions {
  /** Whether the container and the blobs are made where they are missing; `true` unless given. */
  readonly create?: boolean | undefined
  /** The settings of the .NET side; Akka's defaults unless given. */
  readonly peers?: AkkaPeerOptions | undefined
  /** On which records are observed; the machine's unless given. */
  readonly clock?: Clock | undefined
}

/**
 * A store over the leases of Akka.Coordination.Azure (its layout, in the content of blobs), so that a Node worker and a
 * .NET one contend for the same lease. What Akka holds is taken over only after it was seen unchanged for Akka's whole
 * time-out; what is held here is dated so that Akka waits for a whole ttl. Akka's default container is
 * `akka-coordination-lease`. Throws a `LeaseConfigurationError` for settings that Akka cannot have.
 */
export function akkaBlobStore(container: ContainerClient, options: AkkaBlobStoreOptions = {}): CasStore {
  const { create = true, clock = systemClock } = options
  const peers = akkaPeers(options.peers)
  const register = new AkkaBlobRegister(container, create, peers, clock)
  return casStore(register, { clock, maxTtl: Math.max(LONGEST, peers.heartbeatTimeout) })
}
