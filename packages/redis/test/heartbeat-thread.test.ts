import { createLease } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { RedisLeaseStore } from '@leasehold/redis'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { block } from '../../heartbeat-thread/test/support/block.js'
import { fromSource } from '../../heartbeat-thread/test/support/thread-options.js'

/** Milliseconds. */
const TTL = 4_000

describeRedis('a heartbeat thread with a client of its own', () => {
  let server: RedisServer
  let client: Redis

  beforeAll(async () => {
    server = await RedisServer.start()
    client = new Redis(server.port)
  })

  afterAll(async () => {
    client.disconnect()
    await server.stop()
  })

  it('renews a lease while this thread is blocked, and another process is refused', async () => {
    await using thread = new HeartbeatThread(fromSource)
    const url = `redis://127.0.0.1:${server.port}`
    const store = await thread.open({ leaseClass: '@leasehold/redis', options: { url } })
    const lease = createLease(store, 'job', { heartbeatTimeout: TTL })
    expect(await lease.acquire()).toBe(true)
    const token = lease.fencingToken
    block(2 * TTL)
    expect(lease.checkLease()).toBe(true)
    const other = createLease(new RedisLeaseStore(client), 'job', { heartbeatTimeout: TTL })
    expect(await other.acquire()).toBe(false)
    expect(await other.holder()).toMatchObject({ owner: lease.settings.owner, fencingToken: token })
    const waited = other.acquire({ wait: 60_000 })
    expect(await lease.release()).toBe(true)
    expect(await waited).toBe(true)
    await other.release()
  })
})
