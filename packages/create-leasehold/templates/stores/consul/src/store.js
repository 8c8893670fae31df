// @ts-check
/** @import { OpenedStore } from './contract.js' */
import { ConsulGuard, ConsulLeaseStore } from '@leasehold/consul'

const { CONSUL_HTTP_ADDR = 'http://127.0.0.1:8500', CONSUL_HTTP_TOKEN: token } = process.env

/** After how many milliseconds without a heartbeat another process takes over. Consul needs 10 s at least. */
export const heartbeatTimeout = 10_000

export const advice = `Start Consul: docker compose up -d. Or set CONSUL_HTTP_ADDR to the URL of an agent, and CONSUL_HTTP_TOKEN to a token with key:write and session:write.`

/**
 * The leases, and the data that the holder writes: keys of the same cluster.
 *
 * @returns {Promise<OpenedStore>}
 */
export async function openStore() {
  // The variable of Consul's own programs may have no scheme.
  const address = CONSUL_HTTP_ADDR.includes('://') ? CONSUL_HTTP_ADDR : `http://${CONSUL_HTTP_ADDR}`
  const options = { addresses: [address], ...(token === undefined ? {} : { token }) }
  const store = new ConsulLeaseStore(options)
  const guard = new ConsulGuard(options)
  return {
    store,
    // Checks the fencing token and writes in one step.
    save: async (key, text, { fencingToken, signal }) => {
      await guard.write(`my-service/${key}`, fencingToken, text, { signal })
    },
    close: async () => {
      await guard.close()
      await store.close()
    },
  }
}
