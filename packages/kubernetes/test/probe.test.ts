import { AbortableCall } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { leases } from './support/api-server/test-api-server.js'
import { granted, openStore, startServer } from './support/open-store.js'

const ALL = ['get', 'create', 'update', 'watch']
const call = new AbortableCall()

describe('the probe of a cluster', () => {
  it('finds nothing missing, and writes nothing', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    expect(await store.probe(call)).toEqual([{ check: 'permissions', result: 'ok' }])
    expect(server.get(leases, 'leasehold-doctor')).toBeUndefined()
    expect(server.get(leases, 'leasehold-probe')).toBeUndefined()
  })

  it.each(['get', 'create', 'update'])('names the verb %s, and prints the Role that grants it', async (verb) => {
    const server = await startServer()
    server.tokens.set(
      'limited',
      ALL.filter((other) => other !== verb),
    )
    const store = await openStore(server.port, { token: 'limited' })
    expect(await store.probe(call)).toEqual([
      {
        check: 'permissions',
        result: 'failed',
        setting: 'Role',
        found: expect.stringContaining(`lacks the verbs ${verb} on leases.coordination.k8s.io`),
        change: expect.stringMatching(/^Apply this Role/),
      },
    ])
  })

  it('warns of a verb without which waiters poll', async () => {
    const server = await startServer()
    server.tokens.set('limited', ['get', 'create', 'update'])
    const store = await openStore(server.port, { token: 'limited' })
    const [finding] = await store.probe(call)
    expect(finding).toMatchObject({ result: 'warning', found: expect.stringContaining("'watch' is missing") })
  })

  it('rejects if the server does not know the user, or is down', async () => {
    const server = await startServer()
    const stranger = await openStore(server.port, { token: 'stranger' })
    await expect(stranger.probe(call)).rejects.toMatchObject({ code: 'unauthorised' })
    const store = await openStore(server.port)
    await server.goAway()
    await expect(store.probe(call)).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('is no part of a grant: the API server keeps the conditions of all writes', async () => {
    const server = await startServer()
    await granted(await openStore(server.port))
    expect(server.get(leases, 'leasehold-probe')).toBeUndefined()
  })
})
