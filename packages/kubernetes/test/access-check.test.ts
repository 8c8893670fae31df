import { LeaseConfigurationError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { akkaLeases, leases } from './support/api-server/test-api-server.js'
import { granted, openStore, startServer } from './support/open-store.js'

const ALL = ['get', 'create', 'update', 'watch']

describe('the check at the start', () => {
  it('finds nothing missing, and writes nothing', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    expect(await store.checkAccess('job')).toEqual([])
    expect(server.get(leases, 'job')).toBeUndefined()
    await granted(store)
    expect(await store.checkAccess('job')).toEqual([])
  })

  it.each(['get', 'create', 'update'])('names the verb %s, and prints the Role that grants it', async (verb) => {
    const server = await startServer()
    server.tokens.set(
      'limited',
      ALL.filter((other) => other !== verb),
    )
    const store = await openStore(server.port, { token: 'limited' })
    const checked = store.checkAccess('job')
    await expect(checked).rejects.toBeInstanceOf(LeaseUnauthorisedError)
    await expect(checked).rejects.toThrow(`lacks the verbs ${verb} on leases.coordination.k8s.io`)
    await expect(checked).rejects.toThrow(`verbs: ["get", "create", "update", "watch"] # missing: ${verb}`)
  })

  it('names permissions that are not necessary: to watch, and to create an existing object', async () => {
    const server = await startServer()
    await granted(await openStore(server.port))
    server.tokens.set('limited', ['get', 'update'])
    const store = await openStore(server.port, { token: 'limited' })
    expect(await store.checkAccess('job')).toEqual([
      expect.stringContaining("'create' is missing: the lease cannot be acquired again after its object is deleted"),
      expect.stringContaining("'watch' is missing: waiters poll"),
    ])
  })

  it('names the manifest of a missing CRD, and a missing namespace', async () => {
    const server = await startServer()
    server.kinds.delete(akkaLeases)
    const akka = await openStore(server.port, { layout: 'akka' })
    await expect(akka.checkAccess('job')).rejects.toThrow('manifests/leases.akka.io.yaml')
    const nowhere = await openStore(server.port, { namespace: 'nowhere' })
    await expect(nowhere.checkAccess('job')).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(nowhere.checkAccess('job')).rejects.toThrow("namespace 'nowhere' does not exist")
  })

  it('rejects when the server does not answer or rejects the credentials', async () => {
    const server = await startServer()
    const stranger = await openStore(server.port, { token: 'stranger' })
    await expect(stranger.checkAccess('job')).rejects.toThrow('rejects the credentials')
    const store = await openStore(server.port)
    await server.goAway()
    await expect(store.checkAccess('job')).rejects.toBeInstanceOf(LeaseUnavailableError)
  })

  it('accepts a server that does not review access', async () => {
    const server = await startServer()
    server.disturb = ({ path }) => (path.includes('selfsubject') ? { reply: { status: 403, body: 'no' } } : undefined)
    expect(await (await openStore(server.port)).checkAccess('job')).toEqual([])
  })
})
