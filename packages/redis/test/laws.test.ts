import { randomUUID } from 'node:crypto'
import { RedisLeaseStore } from '@leasehold/redis'
import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll } from 'vitest'
import type { RedisClient } from '../src/index.js'
import { RedisServer } from './support/redis-server.js'

const server = await RedisServer.start()
afterAll(() => server.stop())

function subjectOver(library: string, client: RedisClient): StoreSubject {
  return {
    name: `redis, by ${library}`,
    time: 'real',
    clients: true,
    serverTime: true,
    start: () => {
      const prefix = `${randomUUID()}:`
      const admin = new Redis(server.port)
      return {
        open: () => new RedisLeaseStore(client, { prefix }),
        delete: (name) => admin.del(`${prefix}{${name}}`),
        stop: () => admin.disconnect(),
      }
    },
  }
}

const ioredis = subjectOver('ioredis', new Redis(server.port, { lazyConnect: true }))
describeStoreLaws(ioredis)
describeLeaseLaws(leasesOver(ioredis))
describeStoreLaws(subjectOver('node-redis', createClient({ socket: { port: server.port } })))
