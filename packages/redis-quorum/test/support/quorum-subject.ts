import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import type { StoreSubject } from '@leasehold/testkit'
import { FakeMember, FakeServer } from './fake-server.js'

/** A quorum of servers in memory, in virtual time. */
export function quorumOf(size: number): StoreSubject {
  return {
    name: `a quorum of ${size} in memory`,
    time: 'virtual',
    clients: true,
    serverTime: true,
    start: (clock) => {
      // Counters of servers have nothing to do with one another.
      const servers = Array.from({ length: size }, (_, place) => new FakeServer(clock, BigInt((place * 7919) % 1000)))
      return {
        open: (own) =>
          new RedisQuorumLeaseStore(
            servers.map((server) => new FakeMember(server, own)),
            { clock: own },
          ),
        delete: (name) => Promise.all(servers.map(({ store }) => store.delete(name))),
      }
    },
  }
}
