import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConsulGuard, ConsulLeaseStore } from '@leasehold/consul'
import { temporaryFolder } from '@leasehold/testing'
import type { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { never } from '@leasehold/testing/job-claims'
import { describe, expect, it } from 'vitest'
import { Scene } from './support/scene.js'

const MASTER = 'b1a4b0c8-6cc7-4a2b-8b93-0d5bb3e1b7aa'
const ACL = { acl: { enabled: true, default_policy: 'deny', tokens: { master: MASTER, agent: MASTER } } }

/** A token with these rules. */
async function tokenWith(server: ConsulServer, rules: string): Promise<string> {
  const policy = { Name: `p${Math.random()}`.replace('.', ''), Rules: rules }
  const { ID } = (await server.request('PUT', '/acl/policy', { body: JSON.stringify(policy), token: MASTER })) as {
    ID: string
  }
  const body = JSON.stringify({ Policies: [{ ID }] })
  const { SecretID } = (await server.request('PUT', '/acl/token', { body, token: MASTER })) as { SecretID: string }
  return SecretID
}

async function collected<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const value of values) all.push(value)
  return all
}

const request = (grantId: string) => ({ name: 'job', owner: 'anna', grantId, ttl: 10_000 })

describeConsul('access to Consul', () => {
  describe.concurrent('with ACLs', { timeout: 90_000 }, () => {
    it('needs the permissions that the option names, and no others', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server({ config: ACL, token: MASTER })
        const rules = 'key_prefix "leasehold/" { policy = "write" } session_prefix "" { policy = "write" }'
        const store = scene.store([server], { token: await tokenWith(server, rules) })
        const outcome = await store.acquire(request('one'), never)
        expect(outcome.granted).toBe(true)
        if (!outcome.granted) return
        expect(await store.renew(outcome.grant, never)).toEqual({ renewed: true })
        expect(await store.release(outcome.grant, never)).toEqual({ released: true })
        expect((await collected(store.list('', never))).map(({ name }) => name)).toEqual(['job'])
      })
    })

    it.for([
      ['no token', undefined],
      ['an unknown token', '11111111-2222-4333-8444-555555555555'],
    ])('rejects %s as unauthorised, in every operation', async ([, token]) => {
      await Scene.play(async (scene) => {
        const server = await scene.server({ config: ACL, token: MASTER })
        const owner = scene.store([server], { token: MASTER })
        expect((await owner.acquire(request('one'), never)).granted).toBe(true)
        const store = scene.store([server], { token })
        const unauthorised = { code: 'unauthorised', message: expect.stringContaining('key:write') }
        const grant = { ...request('one'), fencingToken: 1n }
        await expect(store.acquire(request('one'), never)).rejects.toMatchObject(unauthorised)
        await expect(store.renew(grant, never)).rejects.toMatchObject(unauthorised)
        await expect(store.release(grant, never)).rejects.toMatchObject(unauthorised)
        await expect(store.read('job', never)).rejects.toMatchObject(unauthorised)
        await expect(store.break('job', {}, never)).rejects.toMatchObject(unauthorised)
        // Consul leaves out the keys that the token must not read, or rejects a token that it does not know.
        const listed = await collected(store.list('', never)).catch((error: unknown) => error)
        if (listed instanceof Error) expect(listed).toMatchObject(unauthorised)
        else expect(listed).toEqual([])
        await expect(collected(store.watch('job', never))).rejects.toMatchObject(unauthorised)
        const guard = new ConsulGuard({ addresses: [server.url] })
        await expect(guard.write('ledger', 1n, 'entry')).rejects.toMatchObject(unauthorised)
        await guard.close()
      })
    })

    it.for([
      [
        'read, but not write, the key',
        'key_prefix "leasehold-fences/" { policy = "write" } key_prefix "data/" { policy = "read" }',
      ],
      [
        'not write another key of the transaction',
        'key_prefix "leasehold-fences/" { policy = "write" } key "data/a" { policy = "write" }',
      ],
      [
        'write the key, but only read its fence',
        'key_prefix "leasehold-fences/" { policy = "read" } key_prefix "data/" { policy = "write" }',
      ],
      ['write the key, but not read its fence', 'key_prefix "data/" { policy = "write" }'],
    ] as const)('a guard rejects a token that may %s as unauthorised, and writes nothing', async ([, rules]) => {
      await Scene.play(async (scene) => {
        const server = await scene.server({ config: ACL, token: MASTER })
        const guard = new ConsulGuard({ addresses: [server.url], token: await tokenWith(server, rules) })
        scene.atEnd(() => guard.close())
        const set = (key: string) => ({ KV: { Verb: 'set', Key: key, Value: '' } })
        const failure = await guard
          .transact('data/a', 1n, [set('data/a'), set('data/b')])
          .catch((error: unknown) => error)
        expect(failure).toMatchObject({ code: 'unauthorised' })
        for (const part of ["key:write on 'data/a'", "'leasehold-fences/data/a'"])
          expect(failure).toMatchObject({ message: expect.stringContaining(part) })
        const left = await server.request('GET', '/kv/?keys').catch(() => [])
        expect(left).toEqual([])
      })
    })

    it('rejects a token that may not create sessions as unauthorised', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server({ config: ACL, token: MASTER })
        const token = await tokenWith(server, 'key_prefix "leasehold/" { policy = "write" }')
        const store = scene.store([server], { token })
        await expect(store.acquire(request('one'), never)).rejects.toMatchObject({
          code: 'unauthorised',
          message: expect.stringContaining('session:write'),
        })
      })
    })

    it('rejects a token that may only read keys as unauthorised', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server({ config: ACL, token: MASTER })
        const rules = 'key_prefix "leasehold/" { policy = "read" } session_prefix "" { policy = "write" }'
        const store = scene.store([server], { token: await tokenWith(server, rules) })
        await expect(store.acquire(request('one'), never)).rejects.toMatchObject({ code: 'unauthorised' })
      })
    })
  })

  it('by TLS needs the certificate of the authority', async (test) => {
    await Scene.play(async (scene) => {
      const server = await scene.server({ tls: true })
      const caFile = join(temporaryFolder(test), 'ca.pem')
      writeFileSync(caFile, server.ca ?? '')
      const store = new ConsulLeaseStore({ addresses: [server.url], caFile })
      expect((await store.acquire(request('one'), never)).granted).toBe(true)
      await store.close()
      const distrustful = new ConsulLeaseStore({ addresses: [server.url] })
      await expect(distrustful.read('job', never)).rejects.toMatchObject({ code: 'unavailable' })
      await distrustful.close()
    })
  })

  it('says which option sets the smallest ttl of the servers', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server({ config: { session_ttl_min: '10s' } })
      const store = scene.store([server])
      await expect(store.acquire({ ...request('one'), ttl: 2_000 }, never)).rejects.toMatchObject({
        code: 'configuration',
        message: expect.stringContaining('min-ttl'),
      })
    })
  })
})
