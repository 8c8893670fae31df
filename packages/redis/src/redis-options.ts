import { LeaseConfigurationError, OptionValues } from '@leasehold/core'

/** The block of a configuration, in the camel case of the code; what is not given is `undefined`. */
export interface RedisOptions {
  /** `redis://[username[:password]@]host[:port][/database]`, `rediss:` for TLS. Secret. */
  readonly url?: string | undefined
  /** Of an ACL, unless the URL has it. */
  readonly username?: string | undefined
  /** Unless the URL has it. Secret. */
  readonly password?: string | undefined
  /** A file with the certificates that TLS trusts beside the system's, in PEM. */
  readonly caFile?: string | undefined
  /** Whether `url` leads to a node of a Redis Cluster. */
  readonly cluster?: boolean | undefined
  /** `host:port` of the Sentinels that know where the master is; with `masterName`, instead of a host in `url`. */
  readonly sentinels?: readonly string[] | undefined
  readonly masterName?: string | undefined
  /** URLs of independent servers, a majority of which holds a lease; instead of `url`. Secret. */
  readonly quorum?: readonly string[] | undefined
  /** See `RedisLeaseStoreOptions`. */
  readonly prefix?: string | undefined
  readonly recordLife?: number | undefined
}

/** Every key of the block that is read. */
export const optionKeys = [
  'url',
  'username',
  'password',
  'caFile',
  'cluster',
  'sentinels',
  'masterName',
  'quorum',
  'prefix',
  'recordLife',
] as const satisfies (keyof RedisOptions)[]

/** Throws a `LeaseConfigurationError` that names what is wrong, and shows no secret. */
export function readOptions(block: Readonly<Record<string, unknown>>): RedisOptions {
  const values = new OptionValues<keyof RedisOptions>('redis', block)
  const options: RedisOptions = {
    url: values.secret('url'),
    username: values.text('username'),
    password: values.secret('password'),
    caFile: values.text('caFile'),
    cluster: values.switch('cluster'),
    sentinels: values.texts('sentinels'),
    masterName: values.text('masterName'),
    quorum: values.texts('quorum'),
    prefix: values.text('prefix'),
    recordLife: values.duration('recordLife'),
  }
  checkPlaces(options)
  return options
}

function checkPlaces({ url, cluster, sentinels, masterName, quorum }: RedisOptions): void {
  const ways = [cluster === true && 'cluster', sentinels && 'sentinels', quorum && 'quorum'].filter(Boolean)
  if (ways.length > 1) throw wrong(`${ways.join(' and ')} do not go together: leases are in one place`)
  if (quorum !== undefined && url !== undefined) throw wrong('quorum has the URLs of all servers: leave out url')
  if ((sentinels === undefined) !== (masterName === undefined)) {
    throw wrong('sentinels and master-name are given together: where the Sentinels are, and what they call the master')
  }
  for (const sentinel of sentinels ?? []) parseAddress(sentinel)
  if (url !== undefined) checkUrl('url', url)
  for (const member of quorum ?? []) checkUrl('quorum', member)
}

/** The host and the port of `host:port`. */
export function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(address) ?? []
  if (host !== undefined && port !== undefined) return { host, port: Number(port) }
  throw wrong(`sentinels must be a list of host:port, not '${address}'`)
}

/** Says nothing of what stands there: it may have a password in it. */
function checkUrl(key: string, url: string): void {
  if (URL.canParse(url)) {
    const { protocol, pathname } = new URL(url)
    if ((protocol === 'redis:' || protocol === 'rediss:') && /^\/?\d*$/.test(pathname)) return
  }
  throw wrong(`${key} must be as redis://[username[:password]@]host[:port][/database], or rediss: for TLS`)
}

function wrong(message: string): LeaseConfigurationError {
  return new LeaseConfigurationError(message, { store: 'redis' })
}
