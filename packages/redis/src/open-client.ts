import { rootCertificates } from 'node:tls'
import { readOptionFile } from '@leasehold/core/store-kit'
import { Cluster, type RedisOptions as IoRedisOptions, Redis } from 'ioredis'
import type { RedisClient } from './client/redis-client.js'
import { misconfigured, parseAddress, type RedisOptions } from './redis-options.js'

const LOCAL = 'redis://localhost'
const DEFAULT_PORT = 6_379

export function openClient(options: Partial<RedisOptions>): RedisClient {
  const { url = LOCAL, cluster, sentinels, masterName = '' } = options
  const access = accessOf(url, options)
  if (cluster === true) return new Cluster([addressOf(url)], { lazyConnect: true, redisOptions: access })
  const found = sentinels === undefined ? addressOf(url) : { sentinels: sentinels.map(parseAddress), name: masterName }
  return new Redis({ lazyConnect: true, ...found, ...access, db: Number(new URL(url).pathname.slice(1)) })
}

function addressOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname.replaceAll(/^\[|\]$/g, '') || 'localhost', port: Number(port || DEFAULT_PORT) }
}

/** The URL takes precedence over the options beside it. */
function accessOf(
  url: string,
  { username, password, caFile }: Partial<RedisOptions>,
): Pick<IoRedisOptions, 'username' | 'password' | 'tls'> {
  const parsed = new URL(url)
  const isSecure = parsed.protocol === 'rediss:'
  if (caFile !== undefined && !isSecure) {
    throw misconfigured('ca-file needs TLS: begin the URL with rediss:')
  }
  return {
    username: decodeURIComponent(parsed.username) || username,
    password: decodeURIComponent(parsed.password) || password,
    ...(isSecure
      ? { tls: caFile === undefined ? {} : { ca: [...rootCertificates, readOptionFile('ca-file', caFile, 'redis')] } }
      : {}),
  }
}
