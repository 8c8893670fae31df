import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { AbortableCall } from '@leasehold/core/store'
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { eventually } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'

const never = new AbortableCall()

const claim = () => ({ name: randomUUID(), owner: 'anna', grantId: randomUUID(), ttl: 60_000 })

describePostgres('stores over a single client of pg', () => {
  let server: PostgresServer
  const clients: Client[] = []

  beforeAll(async () => {
    server = await PostgresServer.start()
    await migrate(await connected())
  })

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end()))
    await server.stop()
  })

  async function connected(): Promise<Client> {
    const client = new Client({ connectionString: server.url })
    await client.connect()
    clients.push(client)
    return client
  }

  // pg warns of a statement that comes while another one is on its way, and will refuse it from version 9 on.
  it('send a statement when the last one has ended, and none whose call was aborted before', async () => {
    const client = await connected()
    const sent: string[] = []
    let underWay = 0
    let most = 0
    const query = client.query.bind(client) as (text: string) => Promise<unknown>
    const watched = Object.assign(client, {
      query: (text: string) => {
        sent.push(text)
        underWay += 1
        most = Math.max(most, underWay)
        return query(text).finally(() => {
          underWay -= 1
        })
      },
    })
    const [store, another] = [new PostgresLeaseStore(watched as Client), new PostgresLeaseStore(watched as Client)]
    const [held, late] = [claim(), claim()]
    await store.acquire(held, never)
    const blocker = await connected()
    await blocker.query('begin')
    await blocker.query('select from leasehold.leases where name = $1 for update', [held.name])

    const [breaking, acquiring] = [new AbortableCall(), new AbortableCall()]
    const broken = expect(store.break(held.name, {}, breaking)).rejects.toThrow('enough')
    await eventually('the break waits for the row', async () => underWay === 1)
    breaking.abort(new Error('enough'))
    await broken
    const acquired = expect(another.acquire(late, acquiring)).rejects.toThrow('too late')
    for (let turn = 0; turn < 5; turn += 1) await setImmediate()
    acquiring.abort(new Error('too late'))
    await acquired

    await blocker.query('rollback')
    expect(await store.read(late.name, never)).toBeUndefined()
    expect([most, sent.filter((text) => text.includes(late.grantId))]).toEqual([1, []])
    await Promise.all([store.close(), another.close()])
  })
})
