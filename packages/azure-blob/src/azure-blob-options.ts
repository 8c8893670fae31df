import type { Clock } from '@leasehold/core'
import { misconfiguredFor, type OptionNames, type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'
import type { ClientRequestId } from './client-request-ids.js'

export const misconfigured = misconfiguredFor('azure-blob')

/** Options of an {@link AzureBlobLeaseStore}. */
export interface AzureBlobLeaseStoreOptions {
  /** Whether to create the container and the blobs if they are missing; `true` unless given, but `false` with exact names. */
  readonly create?: boolean | undefined
  /**
   * The prefix of the names of blobs or containers, such as `leases/`; none unless given, but `lease-` for containers with
   * escaped names.
   */
  readonly prefix?: string | undefined
  /**
   * `escaped`, the default: any lease name, as the name of a blob or container of its own. `exact`: the lease is on the blob
   * or container of that name, which may be yours: the service then rejects the writes, or the deletion, of everyone else.
   */
  readonly names?: 'escaped' | 'exact' | undefined
  /**
   * Whether the record of a grant is written to the metadata of the blob or container; `true` unless given. With `false`
   * nothing is written: owners are unknown, and each grant takes a second longer.
   */
  readonly metadata?: boolean | undefined
  /**
   * The `x-ms-client-request-id` of the requests of the store: the logs of the service and the errors of the store show it.
   * Either one id for all requests, or a function that is called for each request. An id has 1 to 1,024 characters of
   * ASCII. The SDK makes random ids unless given.
   */
  readonly clientRequestId?: ClientRequestId | undefined
  /** The clock for the pause until the second of a write is over; the machine's unless given. */
  readonly clock?: Clock | undefined
}

export const storeOptionNames: OptionNames<AzureBlobLeaseStoreOptions> = {
  create: true,
  prefix: true,
  names: true,
  metadata: true,
  clientRequestId: true,
  clock: true,
}

/** The options of the block `leasehold.azure-blob`. After a change: `npm run docs:update`. */
export const azureBlobOptions = new ProviderOptions('azure-blob', {
  connectionString: {
    type: 'secret',
    description:
      'As the portal shows it. Give exactly one of connection-string, account-key, sas-token and credential.',
  },
  account: { type: 'text', description: 'The name of the storage account, for the other three.' },
  endpoint: {
    type: 'text',
    description: 'The address of its blobs. Default: https://<account>.blob.core.windows.net.',
  },
  accountKey: { type: 'secret', description: 'A key of the account.' },
  sasToken: { type: 'secret', description: 'A shared access signature for the container.' },
  credential: {
    type: 'choice',
    words: ['default', 'managed-identity'],
    description:
      '`default`: a DefaultAzureCredential. `managed-identity`: the identity of the machine. Needs @azure/identity.',
  },
  clientId: { type: 'text', description: 'The id of a user-assigned managed identity.' },
  container: {
    type: 'text',
    description: 'The container of the blobs. Default: leases, or akka-coordination-lease with layout = akka.',
  },
  prefix: {
    type: 'text',
    description:
      'The prefix of the names of blobs, such as leases/. The default for containers is lease-, unless names = exact.',
  },
  create: {
    type: 'switch',
    description:
      'Whether to create the container and the blobs if they are missing. Default: on, but off with names = exact.',
  },
  names: {
    type: 'choice',
    words: ['escaped', 'exact'],
    default: '"escaped"',
    description:
      '`escaped`: any lease name, on a blob or container of its own. `exact`: the lease is on your blob or container of that name.',
  },
  metadata: {
    type: 'switch',
    default: 'on',
    description: 'Whether the record is written to the metadata. `off`: nothing is written, and owners are unknown.',
  },
  clientRequestId: {
    type: 'text',
    description:
      'The x-ms-client-request-id of all requests of the store, for the logs of the service. Default: a random one for each.',
  },
  resource: {
    type: 'choice',
    words: ['blob', 'container'],
    default: '"blob"',
    description: 'Whether a lease is on a blob of the container, or on a container of its own.',
  },
  layout: {
    type: 'choice',
    words: ['native', 'akka'],
    default: '"native"',
    description: '`native`: leases of the service. `akka`: the blobs of Akka.Coordination.Azure, shared with .NET.',
  },
  akkaHeartbeatTimeout: {
    type: 'duration',
    default: '120s',
    description: 'With layout = akka: heartbeat-timeout of the .NET side.',
  },
  akkaHeartbeatInterval: {
    type: 'duration',
    default: '12s',
    description: 'With layout = akka: heartbeat-interval of the .NET side.',
  },
  akkaClockSkew: {
    type: 'duration',
    default: '5s',
    description: "With layout = akka: how far the clocks of the .NET side may be ahead of the service's clock.",
  },
  clockDifference: {
    type: 'duration',
    default: '2s',
    description:
      'With layout = akka: the largest difference between the clocks of two servers of the service. A challenger that has ' +
      'just started replaces a dead holder this time and 2s after the ttl. `infinite`: it trusts no clock of the service, and ' +
      'observes each record for a ttl.',
  },
})

/** The options of a configuration block, in camel case; durations in milliseconds. */
export type AzureBlobOptions = OptionsOf<(typeof azureBlobOptions)['declarations']>

const ways = ['connectionString', 'accountKey', 'sasToken', 'credential'] as const

/** Throws a `LeaseConfigurationError` for options that contradict each other. It shows no secret. */
export function checkOptions(options: AzureBlobOptions): void {
  const { account, endpoint, layout, resource, names, metadata } = options
  if (layout === 'akka' && resource === 'container') {
    throw misconfigured('layout = akka keeps leases in blobs: it excludes resource = container')
  }
  if (layout === 'akka' && (names === 'exact' || metadata === false)) {
    throw misconfigured('layout = akka has names and records of its own: leave out names and metadata')
  }
  if (layout === 'akka' && options.clientRequestId !== undefined) {
    throw misconfigured('clientRequestId is for native leases: leave it out with layout = akka')
  }
  const chosen = ways.filter((way) => options[way] !== undefined)
  const [way] = chosen
  if (way === undefined || chosen.length > 1) {
    const found = chosen.length === 0 ? 'none is' : `${chosen.join(' and ')} are`
    throw misconfigured(`give exactly one of connectionString, accountKey, sasToken and credential: ${found} given`)
  }
  if (way === 'connectionString') return
  if (account === undefined && (endpoint === undefined || way === 'accountKey')) {
    throw misconfigured(`${way} needs account: the name of the storage account`)
  }
  if (endpoint === undefined) return
  if (!URL.canParse(endpoint))
    throw misconfigured('endpoint must be an address such as https://name.blob.core.windows.net')
  if (way === 'credential' && new URL(endpoint).protocol !== 'https:') {
    throw misconfigured('endpoint must start with https: a credential sends a token, which must be encrypted')
  }
}
