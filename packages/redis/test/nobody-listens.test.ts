import { AbortableCall } from '@leasehold/core/store'
import { RedisLeaseStore } from '@leasehold/redis'
import { freePort } from '@leasehold/testing/free-port'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { expect, it } from 'vitest'

it.each([
  ['ioredis', (url: string) => new Redis(url, { lazyConnect: true })],
  ['node-redis', (url: string) => createClient({ url })],
])('where nobody listens, the error by %s says so, and what to check', async (_library, clientOf) => {
  const store = new RedisLeaseStore(clientOf(`redis://127.0.0.1:${await freePort()}`))
  await expect(store.read('job', new AbortableCall())).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/ECONNREFUSED 127\.0\.0\.1:\d+: check the URL, and whether Redis runs there$/),
  })
  const listing = store.list('jobs/', new AbortableCall()).next()
  await expect(listing).rejects.toThrow(/^listing leases 'jobs\/…' failed: connect ECONNREFUSED/)
  const all = store.list('', new AbortableCall()).next()
  await expect(all).rejects.toThrow(/^listing the leases failed: connect ECONNREFUSED/)
  await store.close()
})
