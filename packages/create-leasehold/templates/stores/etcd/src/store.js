// @ts-check
/** @import { OpenedStore } from './contract.js' */
import { EtcdClient, EtcdGuard, EtcdLeaseStore } from '@leasehold/etcd'

const { ETCD_ENDPOINTS = 'http://localhost:2379', ETCD_USERNAME: username, ETCD_PASSWORD: password } = process.env

/** After how many milliseconds without a heartbeat another process takes over. */
export const heartbeatTimeout = 10_000

export const advice = `Start etcd: docker compose up -d. Or set ETCD_ENDPOINTS to the URLs of yours, with commas between them, and ETCD_USERNAME and ETCD_PASSWORD where it has users.`

/**
 * The leases, and the data that the holder writes: keys of the same cluster.
 *
 * @returns {Promise<OpenedStore>}
 */
export async function openStore() {
  const client = new EtcdClient({
    endpoints: ETCD_ENDPOINTS.split(','),
    ...(username === undefined ? {} : { username, password }),
  })
  const store = new EtcdLeaseStore(client)
  const guard = new EtcdGuard(client)
  return {
    store,
    // Checks the fencing token and writes in one step.
    save: async (key, text, { fencingToken, signal }) => {
      await guard.write(`my-service/${key}`, fencingToken, text, { signal })
    },
    close: async () => {
      await store.close()
      client.close()
    },
  }
}
