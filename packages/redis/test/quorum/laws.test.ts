import { RedisQuorumStore } from '@leasehold/redis'
import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { describeRedis } from '../support/describe-redis.js'
import { RedisServer } from '../support/redis-server.js'

/** All laws begin at once: to connect for each of their clients then would take as long as some of them have. */
const CONNECTED = 80

describeRedis('a quorum of three servers', () => {
  let servers: RedisServer[] = []
  const connected: RedisQuorumStore[] = []
  let connect = (): RedisQuorumStore => {
    throw new Error('there are no servers')
  }

  beforeAll(async () => {
    servers = await Promise.all([RedisServer.start(), RedisServer.start(), RedisServer.start()])
    const clients = servers.map(({ port }) => new Redis(port, { lazyConnect: true }))
    connect = () => new RedisQuorumStore(clients)
    for (let store = 0; store < CONNECTED; store += 1) connected.push(connect())
    for (const store of connected) await store.read('nothing', new AbortController().signal)
  })

  afterAll(async () => {
    await Promise.all([...connected, ...servers].map((open) => ('stop' in open ? open.stop() : open.close())))
  })

  const quorum: StoreSubject = {
    name: 'a quorum of three servers',
    time: 'real',
    ttl: 4_000,
    clients: true,
    serverTime: true,
    start: () => {
      const opened: RedisQuorumStore[] = []
      return {
        // Many who contend share a few: of each, some ask at once.
        open: () => {
          const store = (opened.length < 6 ? undefined : opened.shift()) ?? connected.pop() ?? connect()
          opened.push(store)
          return store
        },
        delete: (name) => Promise.all(servers.map((server) => server.command('DEL', `leasehold:{${name}}`))),
      }
    },
  }
  describeStoreLaws(quorum)
  describeLeaseLaws(leasesOver(quorum))
})
