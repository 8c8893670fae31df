import type { Clock } from '@leasehold/core'
import { checkOptionNames, misconfiguredFor, type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'
import type { OldRedisLibrary, RedisCompat } from './compat/redis-compat.js'

export const misconfigured = misconfiguredFor('redis')

/** Durations are milliseconds. */
export interface RedisLeaseStoreOptions {
  /** Begins all keys and channels; `leasehold:` unless given. With a hash tag, all leases of a cluster are in one slot. */
  readonly prefix?: string | undefined
  /** How long the record of a name, with its fencing token, is kept after its lease has ended; 7 days unless given. */
  readonly recordLife?: number | undefined
  /**
   * Whether the server is asked before the first grant if it can evict leases, in one round trip. On unless given. An unfit
   * server is refused with a `LeaseStoreUnfitError`.
   */
  readonly probe?: boolean | undefined
  /**
   * The library of a lock whose key the store holds together with each lease, while processes that still use it are being
   * replaced. Turn it off again in the deployment after that: each operation then costs less.
   */
  readonly compat?: OldRedisLibrary | RedisCompat | undefined
  /**
   * For a client that cannot subscribe (@upstash/redis): how often each waiter asks whether it is its turn, in milliseconds,
   * each time after half of it to all of it. 1000 unless given. Each time costs one command.
   */
  readonly pollInterval?: number | undefined
  /** The machine's clock unless given. It is used only for time limits and pauses. */
  readonly clock?: Clock | undefined
  /** Random numbers from 0 to 1, 1 excluded, for pauses; `Math.random` unless given. */
  readonly random?: (() => number) | undefined
}

/** Throws a `LeaseConfigurationError` for an unknown option. */
export function checkStoreOptions(of: string, options: RedisLeaseStoreOptions, store: string): void {
  const beside = { pollInterval: true, clock: true, random: true } as const
  const names = { prefix: true, recordLife: true, probe: true, compat: true, ...beside } as const
  checkOptionNames<RedisLeaseStoreOptions>(of, options, names, { store })
}

/** The options of a block with `lease-class = "@leasehold/redis"`. */
export const redisOptions = new ProviderOptions('redis', {
  url: {
    type: 'secret',
    description:
      '`redis://[username[:password]@]host[:port][/database]`, `rediss:` for TLS; `redis://localhost:6379` unless given.',
  },
  username: { type: 'text', description: 'The ACL user, unless the URL has it.' },
  password: { type: 'secret', description: 'The password, unless the URL has it.' },
  caFile: {
    type: 'text',
    description: 'A PEM file with certificates that TLS trusts in addition to those of the system.',
  },
  cluster: { type: 'switch', default: 'off', description: 'Whether `url` leads to a node of a Redis Cluster.' },
  sentinels: {
    type: 'texts',
    description: '`host:port` of the Sentinels that know the master, instead of a host in `url`; needs `masterName`.',
  },
  masterName: { type: 'text', description: 'The name that the Sentinels have for the master.' },
  prefix: {
    type: 'text',
    default: '"leasehold:"',
    description:
      'The prefix of keys and channels. With a hash tag, such as `{leases}:`, all leases of a cluster are in one slot.',
  },
  recordLife: {
    type: 'duration',
    default: '7d',
    description: 'How long the record of a name, with its fencing token, is kept after its lease has ended.',
  },
  probe: {
    type: 'switch',
    default: 'on',
    description:
      'Whether the server is asked before the first grant if it can evict leases. An unfit server is refused with a `LeaseStoreUnfitError`.',
  },
  compat: {
    type: 'choice',
    words: ['redlock', 'redis-semaphore', 'shedlock-redis'],
    description:
      'The library of a lock whose key the store holds together with each lease, while processes that still use it are replaced.',
  },
})

/** The options of a block, in the camel case of the code; absent options are `undefined`. Durations are milliseconds. */
export type RedisOptions = OptionsOf<(typeof redisOptions)['declarations']>

/** Throws a `LeaseConfigurationError` if options exclude each other or have an invalid address. It shows no secret. */
export function checkOptions({ url, cluster, sentinels, masterName }: Partial<RedisOptions>): void {
  if (cluster === true && sentinels) throw misconfigured('cluster and sentinels exclude each other: keep one of them')
  if ((sentinels === undefined) !== (masterName === undefined)) {
    throw misconfigured(
      'sentinels and master-name need each other: give the addresses of the Sentinels and their name of the master',
    )
  }
  for (const sentinel of sentinels ?? []) parseAddress(sentinel)
  if (url !== undefined) checkUrl(url)
}

/** The host and the port of `host:port`. */
export function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(address) ?? []
  if (host !== undefined && port !== undefined) return { host, port: Number(port) }
  throw misconfigured(`sentinels must be a list of host:port, not '${address}'`)
}

/** The error must not show the URL: it may have a password in it. */
function checkUrl(url: string): void {
  if (URL.canParse(url)) {
    const { protocol, pathname } = new URL(url)
    if ((protocol === 'redis:' || protocol === 'rediss:') && /^\/?\d*$/.test(pathname)) return
  }
  throw misconfigured('url must be like redis://[username[:password]@]host[:port][/database], or rediss: for TLS')
}
