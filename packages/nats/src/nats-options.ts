import { misconfiguredFor, type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'

export const misconfigured = misconfiguredFor('nats')

/** The options of a block with `lease-class = "@leasehold/nats"`. */
export const natsOptions = new ProviderOptions('nats', {
  servers: {
    type: 'texts',
    default: '["nats://localhost:4222"]',
    description: 'The addresses of the servers. With `tls:`, TLS is used.',
  },
  user: { type: 'text', description: 'The user, where the servers ask for a password.' },
  password: { type: 'secret', description: 'The password of the user.' },
  token: { type: 'secret', description: 'The token, where the servers ask for one.' },
  nkeyFile: { type: 'text', description: 'A file with the seed of an NKey. It is read at each connection.' },
  credsFile: {
    type: 'text',
    description: 'A file with credentials (a JWT and its seed), as `nsc` writes it. It is read at each connection.',
  },
  caFile: {
    type: 'text',
    description: 'A PEM file with the certificates that TLS trusts, instead of those of the system.',
  },
  certFile: { type: 'text', description: 'A PEM file with the certificate of this client; needs `keyFile`.' },
  keyFile: { type: 'text', description: 'A PEM file with the private key of this client; needs `certFile`.' },
  bucket: { type: 'text', default: '"leasehold"', description: 'The key-value bucket of the leases.' },
  domain: { type: 'text', description: 'The JetStream domain of the bucket, where it is not that of the server.' },
  clockDifference: {
    type: 'duration',
    default: '2s',
    description:
      'By how much the clocks of two servers of the cluster can differ. A challenger counts the age of a record by them.',
  },
  create: {
    type: 'switch',
    default: 'on',
    description: 'Whether a bucket that is missing is made: with three replicas in a cluster.',
  },
  probe: {
    type: 'switch',
    default: 'on',
    description: 'Whether each new grant checks the settings of the bucket, with a request that it sends anyway.',
  },
})

/** The options of a block, in the camel case of the code; absent options are `undefined`. */
export type NatsOptions = OptionsOf<(typeof natsOptions)['declarations']>
