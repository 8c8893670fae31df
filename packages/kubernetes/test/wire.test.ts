import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { akkaLeases, TestApiServer } from './support/api-server/test-api-server.js'
import { call, openStore } from './support/open-store.js'
import { describeWire } from './support/wire.js'

let server: TestApiServer

beforeAll(async () => {
  server = await TestApiServer.start()
})

afterAll(() => server.stop())

describe('the test API server answers as real ones do:', () => {
  describeWire({ port: () => server.port })

  it('a PUT of a custom resource that is missing makes none, and fields that its schema has not are pruned', async () => {
    const store = await openStore(server.port, { layout: 'akka' })
    const outcome = await store.acquire({ name: 'pruned', owner: 'me', grantId: 'g', ttl: 15_000 }, call)
    const grant = outcome.granted ? outcome.grant : expect.unreachable()
    expect(Object.keys(server.get(akkaLeases, 'pruned')?.spec ?? {}).sort()).toEqual(['owner', 'time'])
    server.remove(akkaLeases, 'pruned')
    expect(await store.renew(grant, call)).toEqual({ renewed: false, reason: 'deleted' })
    expect(server.get(akkaLeases, 'pruned')).toBeUndefined()
  })
})
