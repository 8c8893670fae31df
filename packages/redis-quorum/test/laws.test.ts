import type { LeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { leaseLaws, leasesOver, type StoreSubject, storeLaws } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe } from 'vitest'

/** How many clients the laws share that need none of their own: all begin at once, and some connect thirty. */
const SHARED = 12

describeRedis('a quorum of three servers', () => {
  let servers: RedisServer[] = []
  let clients: Redis[] = []
  const shared: RedisQuorumLeaseStore[] = []

  beforeAll(async () => {
    servers = await Promise.all([RedisServer.start(), RedisServer.start(), RedisServer.start()])
    clients = servers.map(({ port }) => new Redis(port, { lazyConnect: true }))
    for (let client = 0; client < SHARED; client += 1) shared.push(new RedisQuorumLeaseStore(clients))
    await Promise.all(shared.map((store) => store.read('nothing', new AbortableCall())))
  })

  afterAll(async () => {
    await Promise.all(shared.map((store) => store.close()))
    await Promise.all(servers.map((server) => server.stop()))
  })

  const remove = (name: string): Promise<unknown> => {
    return Promise.all(servers.map((server) => server.command('DEL', `leasehold:{${name}}`)))
  }
  const copy = async (name: string): Promise<() => Promise<unknown>> => {
    const [key, copied] = [`leasehold:{${name}}`, `copy:{${name}}`]
    await Promise.all(servers.map((server) => server.command('COPY', key, copied)))
    return () => Promise.all(servers.map((server) => server.command('COPY', copied, key, 'REPLACE')))
  }
  const quorum: StoreSubject = {
    name: 'a quorum of three servers',
    time: 'real',
    ttl: 4_000,
    clients: true,
    serverTime: true,
    start: () => ({ open: () => new RedisQuorumLeaseStore(clients), delete: remove, copy }),
  }
  const ofShared: StoreSubject = {
    ...quorum,
    start: () => {
      let opened = 0
      return { open: () => lent(shared[opened++ % SHARED]), delete: remove, copy }
    },
  }

  // Of a ttl some leave little to requests, while thirty contend for each of many leases.
  const isTight = ({ family }: { readonly family: string }): boolean => family === 'expiry'
  const isLoose = (law: { readonly family: string }): boolean => !isTight(law)
  describe('alone', () => {
    describeStoreLaws({ ...ofShared, ttl: 2_000 }, storeLaws.filter(isTight))
    describeLeaseLaws(leasesOver({ ...ofShared, ttl: 2_000 }), leaseLaws.filter(isTight))
  })
  describe('among others', () => {
    const isShutdown = ({ family }: { readonly family: string }): boolean => family === 'shutdown'
    describeStoreLaws(quorum, storeLaws.filter(isShutdown))
    describeStoreLaws(
      ofShared,
      storeLaws.filter((law) => isLoose(law) && !isShutdown(law)),
    )
  })
  describeLeaseLaws(leasesOver(ofShared), leaseLaws.filter(isLoose))
})

/** A store for one trial, which does not close it. */
function lent(store: RedisQuorumLeaseStore | undefined): LeaseStore {
  if (store === undefined) throw new Error('there are no servers')
  const { kind, limits } = store
  return {
    kind,
    limits,
    acquire: (request, call) => store.acquire(request, call),
    renew: (grant, call) => store.renew(grant, call),
    renewMany: (grants, call) => store.renewMany(grants, call),
    update: (grant, metadata, call) => store.update(grant, metadata, call),
    release: (grant, call, metadata) => store.release(grant, call, metadata),
    read: (name, call) => store.read(name, call),
    change: (grant, to, call) => store.change(grant, to, call),
    break: (name, options, call) => store.break(name, options, call),
    close: () => Promise.resolve(),
  }
}
