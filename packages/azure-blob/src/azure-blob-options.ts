import { LeaseConfigurationError, OptionValues } from '@leasehold/core'

/** The options of a configuration block, in camel case; `undefined` if not given. */
export interface AzureBlobOptions {
  /** As the portal shows it. Secret. Give exactly one of this, `accountKey`, `sasToken` and `credential`. */
  readonly connectionString?: string | undefined
  /** The name of the storage account. Not with a connection string; optional with `endpoint`, except for a key. */
  readonly account?: string | undefined
  /** The address of the account's blobs; `https://<account>.blob.core.windows.net` unless given. */
  readonly endpoint?: string | undefined
  /** With `account`. Secret. */
  readonly accountKey?: string | undefined
  /** A shared access signature for the container. Secret. */
  readonly sasToken?: string | undefined
  /** `default`: a `DefaultAzureCredential`; `managed-identity`: the identity of the machine, without a search. */
  readonly credential?: 'default' | 'managed-identity' | undefined
  /** The id of a user-assigned managed identity. */
  readonly clientId?: string | undefined
  /** The container of the blobs; `leases`, or `akka-coordination-lease` with Akka's layout, unless given. */
  readonly container?: string | undefined
  /** See `AzureBlobLeaseStoreOptions`. */
  readonly prefix?: string | undefined
  readonly create?: boolean | undefined
  /** Whether a lease is on a blob of the container, or on a container of its own; `blob` unless given. */
  readonly resource?: 'blob' | 'container' | undefined
  /** `native`: leases of the service; `akka`: the blobs of Akka.Coordination.Azure. `native` unless given. */
  readonly layout?: 'native' | 'akka' | undefined
  /** The settings of the .NET side, in milliseconds; see `AkkaPeerOptions`. */
  readonly akkaHeartbeatTimeout?: number | undefined
  readonly akkaHeartbeatInterval?: number | undefined
  readonly akkaClockSkew?: number | undefined
}

/** Throws a `LeaseConfigurationError` that names the invalid option, and shows no secret. */
export function readOptions(block: Readonly<Record<string, unknown>>): AzureBlobOptions {
  const values = new OptionValues<keyof AzureBlobOptions>('azure-blob', block)
  const options: AzureBlobOptions = {
    connectionString: values.secret('connectionString'),
    account: values.text('account'),
    endpoint: values.text('endpoint'),
    accountKey: values.secret('accountKey'),
    sasToken: values.secret('sasToken'),
    credential: values.choice('credential', ['default', 'managed-identity']),
    clientId: values.text('clientId'),
    container: values.text('container'),
    prefix: values.text('prefix'),
    create: values.switch('create'),
    resource: values.choice('resource', ['blob', 'container']),
    layout: values.choice('layout', ['native', 'akka']),
    akkaHeartbeatTimeout: values.duration('akkaHeartbeatTimeout'),
    akkaHeartbeatInterval: values.duration('akkaHeartbeatInterval'),
    akkaClockSkew: values.duration('akkaClockSkew'),
  }
  checkAccess(options)
  if (options.layout === 'akka' && options.resource === 'container') {
    throw wrong('layout = akka keeps leases in blobs: it excludes resource = container')
  }
  return options
}

/** The keys of the block. */
export const optionKeys = [
  'connectionString',
  'account',
  'endpoint',
  'accountKey',
  'sasToken',
  'credential',
  'clientId',
  'container',
  'prefix',
  'create',
  'resource',
  'layout',
  'akkaHeartbeatTimeout',
  'akkaHeartbeatInterval',
  'akkaClockSkew',
] as const satisfies (keyof AzureBlobOptions)[]

const ways = ['connectionString', 'accountKey', 'sasToken', 'credential'] as const

function checkAccess(options: AzureBlobOptions): void {
  const chosen = ways.filter((way) => options[way] !== undefined)
  const [way] = chosen
  if (way === undefined || chosen.length > 1) {
    const found = chosen.length === 0 ? 'none is' : `${chosen.join(' and ')} are`
    throw wrong(`give exactly one of connectionString, accountKey, sasToken and credential: ${found} given`)
  }
  const { account, endpoint } = options
  if (way === 'connectionString') return
  if (account === undefined && (endpoint === undefined || way === 'accountKey')) {
    throw wrong(`${way} needs account: the name of the storage account`)
  }
  if (endpoint === undefined) return
  if (!URL.canParse(endpoint)) throw wrong('endpoint must be an address such as https://name.blob.core.windows.net')
  if (way === 'credential' && new URL(endpoint).protocol !== 'https:') {
    throw wrong('endpoint must start with https: a credential sends a token, which must be encrypted')
  }
}

function wrong(message: string): LeaseConfigurationError {
  return new LeaseConfigurationError(message, { store: 'azure-blob' })
}
