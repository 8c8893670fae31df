import type { Client, Metadata } from '@grpc/grpc-js'
import { misconfigured } from '../etcd-options.js'

/** An `Etcd3` object of etcd3. */
export interface Etcd3Like {
  readonly kv: object
  readonly watchClient: object
  close(): void
}

/** One of the hosts of an `Etcd3` object. It makes a new client of gRPC when it has closed the one before. */
export interface Etcd3Host {
  getServiceClient(name: 'KV'): Client
}

/** The token of the user in an `Etcd3` object. The metadata is empty if it has no user. */
interface Authenticator {
  getMetadata(): Promise<Metadata>
  invalidateMetadata(): void
}

interface Pool {
  readonly hosts: readonly [Etcd3Host, ...Etcd3Host[]]
  readonly authenticator: Authenticator
}

/**
 * The pool of connections of an `Etcd3` object, which its types hide. Throws a `LeaseConfigurationError` if it is none, or
 * a version of another shape.
 */
export function poolOf(etcd3: Etcd3Like): Pool {
  const { pool, close } = Object(etcd3) as { readonly pool?: Partial<Pool>; readonly close?: unknown }
  const { hosts, authenticator } = pool ?? {}
  const isPool =
    typeof close === 'function' &&
    Array.isArray(hosts) &&
    hosts.length > 0 &&
    hosts.every((host) => typeof host?.getServiceClient === 'function') &&
    typeof authenticator?.getMetadata === 'function' &&
    typeof authenticator.invalidateMetadata === 'function'
  if (isPool) return pool as Pool
  throw misconfigured('etcd3 must be an Etcd3 object of etcd3 1.x, and not one of its namespaces: or give endpoints')
}

/**
 * Gets the metadata of the user: at each call but the first with a new token. Rejects as gRPC does if the server does not
 * know the user: etcd3 throws errors without a status.
 */
export function signInWith(authenticator: Authenticator): () => Promise<Metadata> {
  let isFirst = true
  return async () => {
    if (!isFirst) authenticator.invalidateMetadata()
    isFirst = false
    try {
      return await authenticator.getMetadata()
    } catch (error) {
      const details = error instanceof Error ? error.message : String(error)
      if (!/invalid user ID or password|user name is empty/.test(details)) throw error
      throw Object.assign(new Error(details, { cause: error }), { code: INVALID_ARGUMENT, details })
    }
  }
}

/** The status with which a server answers a wrong password. */
const INVALID_ARGUMENT = 3
