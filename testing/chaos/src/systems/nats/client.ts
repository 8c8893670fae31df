import type { Clock } from '@leasehold/core'
import { NatsGuard, NatsLeaseStore } from '@leasehold/nats'
import { connect as connectNats } from '@nats-io/transport-node'
import { accepted } from '../../servers/accepted.js'
import type { Connection } from '../system.js'
import { confirmedRead } from './confirmed-read.js'
import { type NatsClientSettings, REGISTERS } from './settings.js'

/** A client process of NATS, over its own ways to all servers; it takes no other addresses from the servers. */
export default async function connect(
  { servers, operationTimeout }: NatsClientSettings,
  _names: readonly string[],
  clock: Clock,
): Promise<Connection> {
  const connection = await connectNats({
    servers: [...servers],
    ignoreClusterUpdates: true,
    waitOnFirstConnect: true,
    reconnectTimeWait: 100,
    maxReconnectAttempts: -1,
    timeout: operationTimeout,
    // A way that is cut is noticed within three intervals.
    pingInterval: 500,
  })
  const store = new NatsLeaseStore(connection, { clock })
  const guard = new NatsGuard(connection, { bucket: REGISTERS })
  return {
    store,
    register: (name) => ({
      write: (value, token) =>
        accepted(guard.write(name, token, value, { signal: AbortSignal.timeout(operationTimeout) })),
      read: () => confirmedRead(connection, name, operationTimeout),
    }),
    close: async () => {
      await store.close()
      await guard.close()
      await connection.close()
    },
  }
}
