import { misconfiguredFor, type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'

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
