import { LeaseConfigurationError, OptionValues } from '@leasehold/core'

/** The block of a configuration, in the camel case of the code; what is not given is `undefined`. */
export interface AzureBlobOptions {
  /** As the portal shows it. Secret. One of this, `accountKey`, `sasToken` and `credential` is given. */
  readonly connectionString?: string | undefined
  /** The name of the storage account; for all but a connection string, unless `endpoint` is given. */
  readonly account?: string | undefined
  /** The address of the account's blobs; `https://<account>.blob.core.windows.net` unless given. */
  readonly endpoint?: string | undefined
  /** With `account`. Secret. */
  readonly accountKey?: string | undefined
  /** A shared access signature for the container. Secret. */
  readonly sasToken?: string | undefined
  /** `default`: whatever `DefaultAzureCredential` finds; `managed-identity`: that of the machine, without a search. */
  readonly credential?: 'default' | 'managed-identity' | undefined
  /** Of a managed identity that is not the system's own. */
  readonly clientId?: string | undefined
  /** Where the blobs are; `leases`, or `akka-coordination-lease` with Akka's layout, unless given. */
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

/** Throws a `LeaseConfigurationError` that names what is wrong, and shows no secret. */
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
    throw wrong('layout = akka keeps leases in blobs: it does not go with resource = container')
  }
  return options
}

/** Every key of the block that is read. */
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
    throw wrong(`one of connectionString, accountKey, sasToken and credential has to be given: ${found}`)
  }
  const { account, endpoint } = options
  if (way === 'connectionString') return
  if (account === undefined && (endpoint === undefined || way === 'accountKey')) {
    throw wrong(`${way} needs account: the name of the storage account`)
  }
  if (endpoint === undefined) return
  if (!URL.canParse(endpoint)) throw wrong('endpoint must be an address such as https://name.blob.core.windows.net')
  if (way === 'credential' && new URL(endpoint).protocol !== 'https:') {
    throw wrong('endpoint must begin with https: a credential sends a token, which nobody else may read')
  }
}

function wrong(message: string): LeaseConfigurationError {
  return new LeaseConfigurationError(message, { store: 'azure-blob' })
}
