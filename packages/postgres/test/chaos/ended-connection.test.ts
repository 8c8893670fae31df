import { EventEmitter } from 'node:events'
import { type PgPoolClient, PostgresLeaseStore } from '@leasehold/postgres'
import { never } from '@leasehold/testing/job-claims'
import { expect, it } from 'vitest'

/** A connection that the server ends with the same bytes with which it begins. */
class EndedClient extends EventEmitter {
  readonly released: unknown[] = []

  query(): Promise<never> {
    return Promise.reject(new Error('Connection terminated unexpectedly'))
  }

  release(error?: unknown): void {
    this.released.push(error)
  }
}

it('a connection that ends as soon as it is there fails the call, and not the process', async () => {
  const client = new EndedClient()
  const pool = {
    totalCount: 0,
    query: () => client.query(),
    connect: (listener: (error: undefined, client: PgPoolClient) => void) => {
      listener(undefined, client as unknown as PgPoolClient)
      // Without a listener for errors, this throws.
      client.emit('error', new Error('terminating connection due to administrator command'))
    },
  }
  const store = new PostgresLeaseStore(pool)
  await expect(store.read('job', never)).rejects.toMatchObject({ code: 'unavailable' })
  expect(client.released).toEqual([expect.any(Error)])
  await store.close()
})
