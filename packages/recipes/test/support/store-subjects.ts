import { randomUUID } from 'node:crypto'
import { LocalLeaseStore } from '@leasehold/local'
import { type RedisClient, RedisLeaseStore } from '@leasehold/redis'
import { temporaryFolder } from '@leasehold/testing'
import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import type { RedisServer } from '@leasehold/testing/redis-server'
import type { StoreSubject } from '@leasehold/testkit'

const localSubject: StoreSubject = {
  name: 'local',
  time: 'virtual',
  clients: true,
  serverTime: true,
  start: (clock) => {
    const ends: (() => unknown)[] = []
    const folder = temporaryFolder({ onTestFinished: (end) => void ends.push(end as () => unknown) })
    return {
      open: () => new LocalLeaseStore({ folder, clock }),
      stop: async () => {
        for (const end of ends) await end()
      },
    }
  },
}

/** The stores on which every recipe keeps its laws, in virtual time. */
export const storesInVirtualTime: readonly StoreSubject[] = [memorySubject, casSubject, localSubject]

/** Stores on one Redis server, in real time. */
export function redisSubject(server: () => RedisServer, connect: (port: number) => RedisClient): StoreSubject {
  let client: RedisClient | undefined
  return {
    name: 'redis',
    time: 'real',
    ttl: 6_000,
    clients: true,
    serverTime: true,
    start: () => {
      const prefix = `${randomUUID()}:`
      return {
        open: () => {
          client ??= connect(server().port)
          return new RedisLeaseStore(client, { prefix })
        },
      }
    },
  }
}
