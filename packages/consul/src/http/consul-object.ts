import type { RequestOptions } from 'node:https'
import { misconfigured } from '../consul-options.js'
import type { HttpSettings } from './http-transport.js'

/** A `Consul` object of the npm package consul. */
export interface ConsulLike {
  readonly kv: object
  readonly session: object
  readonly transaction: object
}

/** The options of a `Consul` object, which its types hide. */
interface Settings {
  readonly _opts: Omit<RequestOptions, 'headers'> & {
    readonly baseUrl: {
      readonly protocol: string
      readonly hostname: string
      readonly port?: string
      readonly path: string
      readonly auth?: string
    }
    readonly headers?: Record<string, string>
  }
  readonly _defaults?: { readonly token?: string; readonly dc?: string; readonly partition?: string }
}

/** The options of a `Consul` object that are those of `http.request`. */
const OPTIONS = [
  'agent',
  'createConnection',
  'family',
  'hints',
  'localAddress',
  'localPort',
  'lookup',
  'socketPath',
  'ca',
  'cert',
  'ciphers',
  'crl',
  'key',
  'passphrase',
  'pfx',
  'rejectUnauthorized',
  'secureOptions',
  'secureProtocol',
  'servername',
] as const

/**
 * The address of a `Consul` object, without the `/v1` at its end. Throws a `LeaseConfigurationError` if it is none, or a
 * version of another shape.
 */
export function addressOf(consul: ConsulLike): URL {
  const { _opts: options, kv } = Object(consul) as Partial<Settings> & Partial<ConsulLike>
  const { protocol, hostname, port, path } = Object(options?.baseUrl) as Partial<Settings['_opts']['baseUrl']>
  const root = /^(.*)\/v1$/.exec(path ?? '')?.[1]
  const address = `${protocol}//${hostname}${port === undefined || port === null ? '' : `:${port}`}${root ?? ''}`
  if (kv !== undefined && root !== undefined && URL.canParse(address)) return new URL(address)
  throw misconfigured('consul must be a Consul object of the package consul, of version 1 or 2: or give addresses')
}

/**
 * The settings of a `Consul` object as they are now. Its defaults for reads, such as `stale`, are left out: they would show
 * leases as they were.
 */
export function settingsOf(consul: ConsulLike): HttpSettings {
  const { _opts: options, _defaults: { token, dc, partition } = {} } = consul as unknown as Settings
  const given = OPTIONS.filter((name) => options[name] !== undefined).map((name) => [name, options[name]])
  const { auth } = options.baseUrl
  return {
    options: { ...Object.fromEntries(given), ...(auth ? { auth } : {}) },
    headers: {
      'user-agent': 'leasehold',
      ...options.headers,
      ...(token === undefined ? {} : { 'x-consul-token': token }),
    },
    query: { ...(dc === undefined ? {} : { dc }), ...(partition === undefined ? {} : { partition }) },
  }
}
