import { AbortableCall } from '@leasehold/core/store'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { freePort } from '@leasehold/testing/free-port'
import { Pool } from 'pg'
import postgres from 'postgres'
import { expect, it } from 'vitest'

it.each([
  ['pg', (connectionString: string) => new Pool({ connectionString })],
  ['postgres.js', (url: string) => postgres(url)],
])('where nobody listens, the error by %s says so, and what to check', async (_library, clientOf) => {
  const client = clientOf(`postgres://postgres@127.0.0.1:${await freePort()}/postgres`)
  const store = new PostgresLeaseStore(client, { listen: false })
  await expect(store.read('job', new AbortableCall())).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/ECONNREFUSED 127\.0\.0\.1:\d+: check the URL, and whether PostgreSQL runs there$/),
  })
  const listing = store.list('jobs/', new AbortableCall()).next()
  await expect(listing).rejects.toThrow(/^listing leases 'jobs\/…' failed: connect ECONNREFUSED/)
  await store.close()
  await client.end()
})
