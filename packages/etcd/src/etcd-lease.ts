import { readFileSync } from 'node:fs'
import { providerFactory } from '@leasehold/core/store'
import { EtcdLeaseStore } from './etcd-lease-store.js'
import { type EtcdOptions, etcdOptions, wrong } from './etcd-options.js'

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
  return { ca: textOf('ca-file', caFile), cert: textOf('cert-file', certFile), key: textOf('key-file', keyFile) }
}

function textOf(option: string, file: string | undefined): string | undefined {
  try {
    return file === undefined ? undefined : readFileSync(file, 'utf8')
  } catch (cause) {
    throw wrong(`${option} cannot be read: ${(cause as Error).message}`, cause)
  }
}
