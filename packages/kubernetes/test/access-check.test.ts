import { LeaseConfigurationError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { akkaLeases, leases } from './support/api-server/test-api-server.js'
import { granted, openStore, signal, startServer } from './support/open-store.js'

const ALL = ['get', 'create', 'update', 'watch']

describe('the check at the start', () => {
  it('finds nothing missing, and writes nothing', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    expect(await store.checkAccess('job', signal)).toEqual([])
    expect(server.get(leases, 'job')).toBeUndefined()
    await granted(store)
    expect(await store.checkAccess('job', signal)).toEqual([])
  })

  it.each(['get', 'create', 'update'])('names the verb %s, and prints the Role that grants it', async (verb) => {
    const server = await startServer()
    server.tokens.set(
      'limited',
      ALL.filter((other) => other !== verb),
    )
    const store = await openStore(server.port, { token: 'limited' })
    const checked = store.checkAccess('job', signal)
    await expect(checked).rejects.toBeInstanceOf(LeaseUnauthorisedError)
    await expect(checked).rejects.toThrow(`missing the verbs ${verb} on leases.coordination.k8s.io`)
    await expect(checked).rejects.toThrow(`verbs: ["get", "create", "update", "watch"] # missing: ${verb}`)
  })

  it('tells what can be done without: watching, and making an object that is there', async () => {
    const server = await startServer()
    await granted(await openStore(server.port))
    server.tokens.set('limited', ['get', 'update'])
    const store = await openStore(server.port, { token: 'limited' })
    expect(await store.checkAccess('job', signal)).toEqual([
      expect.stringContaining("'create' is missing: the lease cannot be held any more once its object is deleted"),
      expect.stringContaining("'watch' is missing: those who wait poll"),
    ])
  })

  it('names the manifest of a CRD that is missing, and a namespace that is', async () => {
    const server = await startServer()
    server.kinds.delete(akkaLeases)
    const akka = await openStore(server.port, { layout: 'akka' })
    await expect(akka.checkAccess('job', signal)).rejects.toThrow('manifests/leases.akka.io.yaml')
    const nowhere = await openStore(server.port, { namespace: 'nowhere' })
    await expect(nowhere.checkAccess('job', signal)).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(nowhere.checkAccess('job', signal)).rejects.toThrow("there is no namespace 'nowhere'")
  })

  it('says so where the server does not answer, or does not know who we are', async () => {
    const server = await startServer()
    const stranger = await openStore(server.port, { token: 'stranger' })
    await expect(stranger.checkAccess('job', signal)).rejects.toThrow('does not take the credentials')
    const store = await openStore(server.port)
    await server.goAway()
    await expect(store.checkAccess('job', signal)).rejects.toBeInstanceOf(LeaseUnavailableError)
  })

  it('makes do with a server that does not review access', async () => {
    const server = await startServer()
    server.disturb = ({ path }) => (path.includes('selfsubject') ? { reply: { status: 403, body: 'no' } } : undefined)
    expect(await (await openStore(server.port)).checkAccess('job', signal)).toEqual([])
  })
})
