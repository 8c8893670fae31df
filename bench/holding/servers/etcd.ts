import { EtcdServer } from '@leasehold/testing/etcd-server'
import { processorTimeOf } from '../../support/processor-time.js'
import type { StoreServer } from './store-server.js'

/** The space of the records, in bytes: the 2 GB that etcd has by default are too little for a million. */
const QUOTA = 8 * 1024 ** 3

export async function startEtcd(): Promise<StoreServer> {
  const server = await EtcdServer.start({ args: ['--quota-backend-bytes', String(QUOTA)] })
  const version = (await server.ctl('version')).split('\n')[0]?.replace(/^\D+/, '')
  return {
    address: server.url,
    version: `etcd ${version}, one member without fsync`,
    commands: 'messages of clients',
    read: async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      const received = [...text.matchAll(/^grpc_server_msg_received_total\{[^}]*\} (\S+)$/gm)]
      const [, stored] = /^etcd_mvcc_db_total_size_in_use_in_bytes (\S+)$/m.exec(text) ?? []
      return {
        cpu: processorTimeOf(server.pid),
        commands: received.reduce((sum, [, count]) => sum + Number(count), 0),
        at: performance.now(),
        stored: Number(stored),
      }
    },
    stop: () => server.stop(),
  }
}
