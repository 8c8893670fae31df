import { misconfiguredFor, type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'

export const misconfigured = misconfiguredFor('etcd')

/** The options of a block with `lease-class = "@leasehold/etcd"`. */
export const etcdOptions = new ProviderOptions('etcd', {
  endpoints: {
    type: 'texts',
    default: '["http://localhost:2379"]',
    description: 'The client URLs of the members. With `https:`, TLS is used.',
  },
  username: { type: 'text', description: 'The user, where authentication is enabled.' },
  password: { type: 'secret', description: 'The password of the user.' },
  caFile: {
    type: 'text',
    description: 'A PEM file with the certificates that TLS trusts, instead of those of the system.',
  },
  certFile: { type: 'text', description: 'A PEM file with the certificate of this client; needs `keyFile`.' },
  keyFile: { type: 'text', description: 'A PEM file with the private key of this client; needs `certFile`.' },
  prefix: { type: 'text', default: '"leasehold/"', description: 'The prefix of all keys.' },
})

/** The options of a block, in the camel case of the code; absent options are `undefined`. */
export type EtcdOptions = OptionsOf<(typeof etcdOptions)['declarations']>
