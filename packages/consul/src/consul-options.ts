import type { Agent } from 'node:http'
import type { Clock } from '@leasehold/core'
import {
  checkedTexts,
  misconfiguredFor,
  type OptionNames,
  type OptionsOf,
  ProviderOptions,
  readOptionFile,
} from '@leasehold/core/store-kit'

export const misconfigured = misconfiguredFor('consul')

/** The options of the block `leasehold.consul`. After a change: `npm run docs:update`. */
export const consulOptions = new ProviderOptions('consul', {
  addresses: {
    type: 'texts',
    default: '["http://127.0.0.1:8500"]',
    description:
      'The URLs of Consul agents, `http:` or `https:`. The first one that works is used; the others replace it when it fails.',
  },
  token: {
    type: 'secret',
    description: 'The ACL token. It needs `key:write` on the prefix and `session:write` on the node of the agent.',
  },
  datacenter: { type: 'text', description: 'The datacenter of the leases, if it is not that of the agent.' },
  caFile: { type: 'text', description: 'A PEM file with the certificates that TLS trusts instead of those of Node.' },
  certFile: { type: 'text', description: 'A PEM file with the certificate of the client; needs `keyFile`.' },
  keyFile: { type: 'text', description: 'A PEM file with the key of the client; needs `certFile`.' },
  prefix: {
    type: 'text',
    default: '"leasehold/"',
    description: 'The prefix of the keys. The key of a lease is the prefix and its name.',
  },
  lockDelay: {
    type: 'duration',
    description:
      'For how long Consul keeps a name locked after the session of its holder has ended without a release; at most 60s. ' +
      'Default: the ttl, at most 60s. A shorter one lets another owner be granted the name while a holder still counts ' +
      'on it, if the session ends early: see Limits.',
  },
  nodeChecks: {
    type: 'texts',
    description:
      'Health checks of the node of the agent, such as `serfHealth`: the session ends when one of them is critical. ' +
      'None unless given: only missing heartbeats end the session.',
  },
  minTtl: {
    type: 'duration',
    default: '10s',
    description: 'The shortest ttl: `session_ttl_min` of the servers.',
  },
})

/** The options of a block, in camel case; durations in milliseconds. Their descriptions are in {@link consulOptions}. */
export type ConsulOptions = Partial<OptionsOf<(typeof consulOptions)['declarations']>>

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
  /** For time limits and pauses; the machine's clock unless given. */
  readonly clock?: Clock | undefined
}

/** Durations are milliseconds. */
export interface ConsulLeaseStoreOptions extends ConsulOptions, Pick<ConsulClusterOptions, 'agent'> {
  /** For time limits, pauses and observed periods; the machine's clock unless given. */
  readonly clock?: Clock | undefined
  /** Random numbers from 0 to 1, 1 excluded, for pauses; `Math.random` unless given. */
  readonly random?: (() => number) | undefined
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
  clock: true,
}

/** The names of the options of a store in code. */
export const optionNames: OptionNames<ConsulLeaseStoreOptions> = {
  ...consulOptions.names,
  agent: true,
  clock: true,
  random: true,
}

const LOCAL = ['http://127.0.0.1:8500'] as const

/** The URLs of the agents. Throws a `LeaseConfigurationError` if one is not valid. */
export function addressesIn({ addresses = LOCAL }: ConsulClusterOptions): readonly [URL, ...URL[]] {
  const [first, ...others] = checkedTexts('addresses', addresses, { example: LOCAL[0], store: 'consul' })
  return [toAddress(first), ...others.map(toAddress)]
}

function toAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '') return url
  throw misconfigured('addresses must be URLs such as http://127.0.0.1:8500, without a user or a query')
}

/** Reads the files that TLS needs. Throws a `LeaseConfigurationError` if one cannot be read. */
export function certificatesIn({ caFile, certFile, keyFile, agent }: ConsulClusterOptions): {
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
