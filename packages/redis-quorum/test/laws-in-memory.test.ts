import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { RedisQuorumLeaseStore } from '../src/redis-quorum-lease-store.js'
import { FakeMember, FakeServer } from './support/fake-server.js'

function quorumOf(size: number): StoreSubject {
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

for (const size of [3, 5]) {
  describeStoreLaws(quorumOf(size))
  describeLeaseLaws(leasesOver(quorumOf(size)))
}
