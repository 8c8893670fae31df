import type { Agent } from 'node:http'
import type { Clock } from '@leasehold/core'
import {
  checkedTexts,
  checkMisplaced,
  hasParts,
  type Misplaced,
  type OptionNames,
  readOptionFile,
} from '@leasehold/core/store-kit'
import { type ConsulOptions, misconfigured } from './consul-options.js'
import { addressOf, type ConsulLike, settingsOf } from './http/consul-object.js'
import type { ConsulTransport } from './http/consul-transport.js'
import { type FetchLike, FetchTransport } from './http/fetch-transport.js'
import { HttpTransport } from './http/http-transport.js'

/** The agents, and the access to them. */
export type ConsulClusterOptions = Pick<
  ConsulOptions,
  'addresses' | 'token' | 'datacenter' | 'caFile' | 'certFile' | 'keyFile'
> & {
  /**
   * Your own agent of `node:http` or `node:https`, whichever the addresses need. Its certificates, proxy and limits take
   * the place of `caFile`, `certFile` and `keyFile`. It stays open. Each name that is waited for uses one of its
   * connections.
   */
  readonly agent?: Agent | undefined
  /**
   * Your `Consul` object of the package consul, in place of all other options of the cluster: its address, token,
   * datacenter, agent and TLS settings are used for requests of ours, which it does not see. It stays open.
   */
  readonly consul?: ConsulLike | undefined
  /**
   * Your `fetch`, in place of `agent`, `caFile`, `certFile` and `keyFile`: that of Node, of undici with a dispatcher, or a
   * function around one of them. It has to pass the signal on.
   */
  readonly fetch?: FetchLike | undefined
  /** For time limits and pauses; the machine's clock unless given. */
  readonly clock?: Clock | undefined
}

/** The names of the options of the cluster in code. */
export const clusterOptionNames: OptionNames<ConsulClusterOptions> = {
  addresses: true,
  token: true,
  datacenter: true,
  caFile: true,
  certFile: true,
  keyFile: true,
  agent: true,
  consul: true,
  fetch: true,
  clock: true,
}

const LOCAL = ['http://127.0.0.1:8500'] as const

/** The URLs of the agents. Throws a `LeaseConfigurationError` if one is not valid. */
export function addressesIn(options: ConsulClusterOptions): readonly [URL, ...URL[]] {
  const { addresses = LOCAL, consul } = options
  if (consul !== undefined) {
    const { consul: _, clock: __, ...others } = pickedFrom(options)
    if (Object.values(others).some((value) => value !== undefined)) {
      throw misconfigured('a Consul object has an address, a token and certificates of its own: give consul alone')
    }
    return [addressOf(consul)]
  }
  const [first, ...others] = checkedTexts('addresses', addresses, { example: LOCAL[0], store: 'consul' })
  return [toAddress(first), ...others.map(toAddress)]
}

function toAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '') return url
  throw misconfigured('addresses must be URLs such as http://127.0.0.1:8500, without a user or a query')
}

/** Throws a `LeaseConfigurationError` if a client or an address is given in the place of the options `of` a constructor. */
export function checkNoClient(of: string, given: unknown): void {
  checkMisplaced(of, given, misplaced, 'consul')
}

const misplaced: readonly Misplaced[] = [
  ['consul: client', (given) => hasParts(given, 'kv', 'session')],
  ['fetch', (given) => typeof given === 'function'],
  [`addresses: ['${LOCAL}']`, (given) => typeof given === 'string'],
]

/** The options of the cluster among those of a store. */
function pickedFrom(options: ConsulClusterOptions): ConsulClusterOptions {
  const names = Object.keys(clusterOptionNames) as (keyof ConsulClusterOptions)[]
  return Object.fromEntries(names.map((name) => [name, options[name]]))
}

/** How requests are sent. Throws a `LeaseConfigurationError` if an option is not valid. */
export function transportOf(options: ConsulClusterOptions): ConsulTransport {
  const { token, datacenter, agent, consul, fetch } = options
  if (consul !== undefined) return new HttpTransport(() => settingsOf(consul))
  const query = datacenter === undefined ? {} : { dc: datacenter }
  const headers = { 'user-agent': 'leasehold', ...(token === undefined ? {} : { 'x-consul-token': token }) }
  const certificates = certificatesIn(options)
  if (fetch === undefined) {
    const settings = { headers, query, options: agent === undefined ? certificates : { agent } }
    return new HttpTransport(() => settings)
  }
  if (typeof fetch !== 'function') throw misconfigured('fetch must be a function like that of Node')
  if (agent !== undefined || Object.keys(certificates).length > 0) {
    throw misconfigured('fetch has connections of its own: give fetch, or agent, caFile, certFile and keyFile')
  }
  return new FetchTransport(fetch, { headers, query })
}

/** Reads the files that TLS needs. Throws a `LeaseConfigurationError` if one cannot be read. */
function certificatesIn({ caFile, certFile, keyFile, agent }: ConsulClusterOptions): {
  ca?: string
  cert?: string
  key?: string
} {
  if (agent !== undefined && (caFile ?? certFile ?? keyFile) !== undefined) {
    throw misconfigured('an agent has certificates of its own: give agent, or caFile, certFile and keyFile')
  }
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw misconfigured('certFile and keyFile need each other: give both')
  }
  return {
    ...(caFile === undefined ? {} : { ca: readOptionFile('caFile', caFile, 'consul') }),
    ...(certFile === undefined ? {} : { cert: readOptionFile('certFile', certFile, 'consul') }),
    ...(keyFile === undefined ? {} : { key: readOptionFile('keyFile', keyFile, 'consul') }),
  }
}
