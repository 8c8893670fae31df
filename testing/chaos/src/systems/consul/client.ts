import { ConsulGuard, ConsulLeaseStore } from '@leasehold/consul'
import type { Clock } from '@leasehold/core'
import { accepted } from '../../servers/accepted.js'
import type { Connection } from '../system.js'
import type { ConsulClientSettings } from './settings.js'

/** A client process of Consul, over its own ways to all servers. */
export default function connect(
  { addresses, operationTimeout }: ConsulClientSettings,
  _names: readonly string[],
  clock: Clock,
): Promise<Connection> {
  const store = new ConsulLeaseStore({ addresses: [...addresses], minTtl: 1_000, clock })
  const guard = new ConsulGuard({ addresses: [...addresses] })
  return Promise.resolve({
    store,
    register: (name) => {
      const key = `register/${name}`
      return {
        write: (value, token) =>
          accepted(guard.write(key, token, value, { signal: AbortSignal.timeout(operationTimeout) })),
        read: () => read(addresses, key, operationTimeout),
      }
    },
    close: async () => {
      await store.close()
      await guard.close()
    },
  })
}

/** A consistent read, past the code of the package; the next server is asked where one does not answer. */
async function read(addresses: readonly string[], key: string, timeout: number): Promise<string | undefined> {
  let failure: unknown
  for (const address of addresses) {
    try {
      const answer = await fetch(`${address}/v1/kv/${key}?consistent&raw`, { signal: AbortSignal.timeout(timeout) })
      const text = await answer.text()
      if (answer.ok) return text
      if (answer.status === 404 && text === '') return undefined
      throw new Error(`${answer.status}: ${text}`)
    } catch (error) {
      failure = error
    }
  }
  throw new Error('no server has answered', { cause: failure })
}
