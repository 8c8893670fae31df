import { providerFactory, readOptionFile } from '@leasehold/core/store-kit'
import { EtcdLeaseStore } from './etcd-lease-store.js'
import { type EtcdOptions, etcdOptions } from './etcd-options.js'

/**
 * The factory that `lease-class = "@leasehold/etcd"` loads. All leases of one provider with the same options share a store
 * and its connections.
 */
export const etcdLease = providerFactory(etcdOptions, (options, { clock }) => {
  const { endpoints, username, password, prefix } = options
  return new EtcdLeaseStore({ endpoints, username, password, tls: tlsOf(options), clock }, { prefix })
})

function tlsOf({ caFile, certFile, keyFile }: EtcdOptions) {
  if (caFile === undefined && certFile === undefined && keyFile === undefined) return undefined
  const textOf = (option: string, file?: string) => file && readOptionFile(option, file, 'etcd')
  return { ca: textOf('ca-file', caFile), cert: textOf('cert-file', certFile), key: textOf('key-file', keyFile) }
}
