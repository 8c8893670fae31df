export type { EtcdTls } from './client/channel.js'
export { EtcdClient, type EtcdClientOptions } from './client/etcd-client.js'
export type { Etcd3Like } from './client/etcd3-object.js'
export type { GrpcChannel, GrpcClient, GrpcConnection, GrpcCredentials } from './client/grpc-connection.js'
export {
  type EtcdCondition,
  EtcdGuard,
  type EtcdGuardOptions,
  type EtcdTransaction,
  type EtcdWrite,
} from './etcd-guard.js'
export { etcdLease } from './etcd-lease.js'
export { EtcdLeaseStore, type EtcdLeaseStoreOptions } from './etcd-lease-store.js'
export { type EtcdOptions, etcdOptions } from './etcd-options.js'
