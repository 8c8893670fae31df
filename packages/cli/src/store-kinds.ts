import { UsageError } from './usage-error.js'

/** A kind of store that `--store` can name. */
export interface StoreKind {
  /** The schemes of its URLs, without the colon; the first is the usual one. */
  readonly schemes: readonly [string, ...string[]]
  /** As `lease-class` names it. */
  readonly leaseClass: string
  /** The packages that it needs, beside `@leasehold/cli`. */
  readonly install: readonly string[]
  /** For the help: an example of its URL. */
  readonly example: string
  /** The settings of the provider's block, in the keys of a configuration. */
  readonly settings: (url: string) => Readonly<Record<string, unknown>>
}

/** Every kind of store that has a URL. */
export const storeKinds: readonly StoreKind[] = [
  {
    schemes: ['local'],
    leaseClass: '@leasehold/local',
    install: [],
    example: 'local:/var/lib/leases',
    settings: (url) => withQuery(url, (folder) => ({ folder })),
  },
  {
    schemes: ['memory'],
    leaseClass: '@leasehold/core#memoryLease',
    install: [],
    example: 'memory:',
    settings: () => ({}),
  },
  {
    schemes: ['redis', 'rediss'],
    leaseClass: '@leasehold/redis',
    install: ['@leasehold/redis', 'ioredis'],
    example: 'redis://localhost:6379',
    settings: (url) => ({ url }),
  },
  {
    schemes: ['postgres', 'postgresql'],
    leaseClass: '@leasehold/postgres',
    install: ['@leasehold/postgres', 'pg'],
    example: 'postgres://localhost/app',
    settings: (url) => ({ url }),
  },
  {
    schemes: ['mysql', 'mariadb', 'mysqls'],
    leaseClass: '@leasehold/mysql',
    install: ['@leasehold/mysql', 'mysql2'],
    example: 'mysql://localhost/app',
    settings: (url) => ({ url }),
  },
  {
    schemes: ['etcd', 'etcds'],
    leaseClass: '@leasehold/etcd',
    install: ['@leasehold/etcd'],
    example: 'etcd://localhost:2379',
    settings: (url) => serversIn(url, { hosts: 'endpoints', user: 'username', password: 'password' }),
  },
  {
    schemes: ['consul', 'consuls'],
    leaseClass: '@leasehold/consul',
    install: ['@leasehold/consul'],
    example: 'consul://localhost:8500',
    settings: (url) => serversIn(url, { hosts: 'addresses', password: 'token' }),
  },
  {
    schemes: ['nats', 'tls'],
    leaseClass: '@leasehold/nats',
    install: ['@leasehold/nats', '@nats-io/transport-node'],
    example: 'nats://localhost:4222',
    settings: (url) => serversIn(url, { hosts: 'servers', user: 'user', password: 'password' }, /^\w+/.exec(url)?.[0]),
  },
  {
    schemes: ['kubernetes'],
    leaseClass: '@leasehold/kubernetes',
    // A pod needs only the first. Version 2 of the client needs Node 22.
    install: ['@leasehold/kubernetes', '@kubernetes/client-node@1'],
    example: 'kubernetes:NAMESPACE',
    settings: (url) => withQuery(url, (namespace) => ({ namespace })),
  },
  {
    schemes: ['azure-blob'],
    leaseClass: '@leasehold/azure-blob',
    install: ['@leasehold/azure-blob'],
    example: 'azure-blob:ACCOUNT',
    settings: (url) => withQuery(url, (account) => ({ account, credential: 'default' })),
  },
  {
    schemes: ['s3'],
    leaseClass: '@leasehold/s3',
    install: ['@leasehold/s3'],
    example: 's3:BUCKET',
    settings: (url) => withQuery(url, (bucket) => ({ bucket })),
  },
  {
    schemes: ['dynamodb'],
    leaseClass: '@leasehold/dynamodb',
    install: ['@leasehold/dynamodb', '@aws-sdk/client-dynamodb'],
    example: 'dynamodb:TABLE',
    settings: (url) => withQuery(url, (table) => ({ table })),
  },
]

/** `kind:path?key=value`: settings of the block beside the path. */
function withQuery(
  url: string,
  settings: (path: string) => Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const [, path = '', query = ''] = /^[^:]*:(?:\/\/(?=\/))?([^?]*)(?:\?(.*))?$/s.exec(url) ?? []
  const given = path === '' ? {} : settings(decoded(path))
  return { ...given, ...Object.fromEntries(new URLSearchParams(query)) }
}

/**
 * Returns the settings in `kind://user:password@host:port,host:port?key=value`, under these keys. The servers get this
 * `protocol`; unless given, `https:` if the scheme ends with an s, for TLS, and `http:` otherwise.
 */
function serversIn(
  url: string,
  keys: { readonly hosts: string; readonly user?: string; readonly password: string },
  protocol = /^[^:]*s:/.test(url) ? 'https' : 'http',
): Readonly<Record<string, unknown>> {
  const [, , login = '', hosts = '', query = ''] =
    /^([^:]*):(?:\/\/(?:([^@/?]*)@)?([^/?]*)\/?(?:\?(.*))?)?$/s.exec(url) ?? []
  const [user, password] = login.split(/:(.*)/s)
  return {
    ...(hosts && { [keys.hosts]: hosts.split(',').map((host) => `${protocol}://${host}`) }),
    ...(user && keys.user && { [keys.user]: decoded(user) }),
    ...(password && { [keys.password]: decoded(password) }),
    ...Object.fromEntries(new URLSearchParams(query)),
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new UsageError(`--store has a malformed % in it: write %25 for the sign itself`)
  }
}
