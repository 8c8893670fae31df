import { randomUUID } from 'node:crypto'
import { ConsulLeaseStore } from '@leasehold/consul'
import type { ConsulServer } from '@leasehold/testing/consul-server'
import type { StoreSubject } from '@leasehold/testkit'

/** In milliseconds. */
export const TTL = 3_000

/** The servers of the tests take shorter sessions than usual. */
export const MIN_TTL = 1_000

/** Consul keeps a session for twice its ttl, and then a name for the lock-delay, which is a ttl here. */
const FREES_AFTER = 3.2

/** Stores on one server, which trials share. */
export function onServer(server: () => ConsulServer): StoreSubject {
  return {
    name: 'consul',
    time: 'real',
    ttl: TTL,
    freesAfter: FREES_AFTER,
    clients: true,
    serverTime: true,
    start: () => {
      const prefix = `${randomUUID()}/`
      const pathOf = (name: string): string => `/kv/${prefix}${name}`
      return {
        open: () => new ConsulLeaseStore({ addresses: [server().url], prefix, minTtl: MIN_TTL }),
        delete: (name) => server().request('DELETE', pathOf(name)),
        copy: async (name) => {
          const [entry] = (await server().request('GET', pathOf(name))) as [{ Value: string }]
          const body = JSON.stringify([{ KV: { Verb: 'set', Key: prefix + name, Value: entry.Value } }])
          const flagged = body.replace('"set"', '"set","Flags":3304740253564472344')
          return () => server().request('PUT', '/txn', { body: flagged })
        },
      }
    },
  }
}
