import { LeaseConfigurationError, OptionValues } from '@leasehold/core'

/** The block of a configuration, in the camel case of the code; absent options are `undefined`. */
export interface RedisOptions {
  /** `redis://[username[:password]@]host[:port][/database]`, `rediss:` for TLS. Secret. */
  readonly url?: string | undefined
  /** The ACL user, unless the URL has it. */
  readonly username?: string | undefined
  /** Unless the URL has it. Secret. */
  readonly password?: string | undefined
  /** A PEM file with certificates that TLS trusts in addition to those of the system. */
  readonly caFile?: string | undefined
  /** Whether `url` leads to a node of a Redis Cluster. */
  readonly cluster?: boolean | undefined
  /** `host:port` of the Sentinels that know the master; with `masterName`, instead of a host in `url`. */
  readonly sentinels?: readonly string[] | undefined
  readonly masterName?: string | undefined
  /** The URLs of independent servers, a majority of which holds a lease; instead of `url`. Secret. */
  readonly quorum?: readonly string[] | undefined
  /** See `RedisLeaseStoreOptions`. */
  readonly prefix?: string | undefined
  readonly recordLife?: number | undefined
}

/** The keys of the block. */
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

/** Throws a `LeaseConfigurationError` that names the fault and contains no secret. */
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
  if (ways.length > 1) throw wrong(`${ways.join(' and ')} exclude each other: keep one of them`)
  if (quorum !== undefined && url !== undefined) throw wrong('quorum has the URLs of all servers: remove url')
  if ((sentinels === undefined) !== (masterName === undefined)) {
    throw wrong(
      'sentinels and master-name need each other: give the addresses of the Sentinels and their name of the master',
    )
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

/** The error must not show the URL: it may have a password in it. */
function checkUrl(key: string, url: string): void {
  if (URL.canParse(url)) {
    const { protocol, pathname } = new URL(url)
    if ((protocol === 'redis:' || protocol === 'rediss:') && /^\/?\d*$/.test(pathname)) return
  }
  throw wrong(`${key} must be like redis://[username[:password]@]host[:port][/database], or rediss: for TLS`)
}

function wrong(message: string): LeaseConfigurationError {
  return new LeaseConfigurationError(message, { store: 'redis' })
}
