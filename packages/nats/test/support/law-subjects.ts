import { randomUUID } from 'node:crypto'
import type { LeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { NatsLeaseStore } from '@leasehold/nats'
import { NatsServer, type NatsServerOptions } from '@leasehold/testing/nats-server'
import { type StoreLaw, type StoreSubject, storeLaws, TcpProxy } from '@leasehold/testkit'
import type { NatsConnection } from '@nats-io/transport-node'

export const never = new AbortableCall()

/** The laws that cut clients off. */
export const partitionLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('partition'))

/** The laws that need a server which begins again with all that it has confirmed. */
export const restartLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('restart'))

/** Stores over a connection of the user, each trial with a bucket of its own. */
export function onConnection(connection: () => NatsConnection): StoreSubject {
  return {
    name: 'nats',
    time: 'virtual',
    clients: true,
    remote: true,
    start: () => {
      const bucket = randomUUID()
      return { open: (clock) => new NatsLeaseStore(connection(), { bucket, clock }) }
    },
  }
}
