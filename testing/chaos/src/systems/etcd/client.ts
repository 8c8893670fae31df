import { EtcdClient, EtcdGuard, EtcdLeaseStore } from '@leasehold/etcd'
import { accepted } from '../../servers/accepted.js'
import type { Connection } from '../system.js'
import { call, type Range, text64 } from './gateway.js'

/** A client process of etcd, over its own ways to all members. */
export default async function connect({ endpoints }: { readonly endpoints: readonly string[] }): Promise<Connection> {
  const client = new EtcdClient({ endpoints })
  const store = new EtcdLeaseStore(client)
  const guard = new EtcdGuard(client)
  return {
    store,
    register: (name) => ({
      write: (value, token) => accepted(guard.write(`register/${name}`, token, value)),
      read: () => read(endpoints, `register/${name}`),
    }),
    close: async () => {
      await store.close()
      client.close()
    },
  }
}

/** A linearizable read, past the code of the package; the next member is asked where one does not answer. */
async function read(endpoints: readonly string[], key: string): Promise<string | undefined> {
  let failure: unknown
  for (const endpoint of endpoints) {
    try {
      const { kvs = [] } = await call<Range>(endpoint, 'kv/range', { key: text64(key) })
      const [found] = kvs
      return found === undefined ? undefined : Buffer.from(found.value ?? '', 'base64').toString()
    } catch (error) {
      failure = error
    }
  }
  throw new Error('no member has answered', { cause: failure })
}
