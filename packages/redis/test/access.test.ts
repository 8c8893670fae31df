import { inspect } from 'node:util'
import { LeaseUnauthorisedError } from '@leasehold/core'
import type { RedisClient, RedisLeaseStore } from '@leasehold/redis'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { within } from '@leasehold/testing/real-time'
import { redisProgram, whyNoTls } from '@leasehold/testing/redis-program'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { describe, expect, it } from 'vitest'
import { differingClusterLibraries, glide, upstash } from './support/libraries.js'
import { Scene } from './support/scene.js'

const PASSWORD = 'open sesame'
const NO_RIGHTS = ['on', `>${PASSWORD}`, 'resetkeys', 'resetchannels', '-@all']
const OWN = ['~leasehold:*', '&leasehold:*']

/** Gives the user `app` these permissions, and no others. */
async function allow(server: RedisServer, rules: readonly string[]): Promise<void> {
  await server.command('ACL', 'SETUSER', 'app', 'reset', ...NO_RIGHTS, ...rules)
}

/** Everything that can be asked of a store. */
async function doAll(scene: Scene, client: RedisClient, server: RedisServer): Promise<void> {
  const [one, other] = [scene.store(client), scene.store(client)]
  try {
    // The script has not run yet, and there are no keys.
    await server.command('SCRIPT', 'FLUSH')
    await server.command('FLUSHALL')
    let held = await granted(one, 'held')
    await other.acquire(claimOf('waits', { queue: true }), never)
    await other.withdraw('job', 'waits', never)
    // So many that the script drops dead waiters.
    const many = Array.from({ length: 100 }, (_, place) => `waits too ${place}`)
    await Promise.all(many.map((grantId) => other.acquire(claimOf(grantId, { queue: true }), never)))
    await Promise.all(many.map((grantId) => other.withdraw('job', grantId, never)))
    await one.renew(held, never)
    held = await granted(one, 'held')
    const changed = await one.change(held, { grantId: 'next', owner: 'anna' }, never)
    if (!changed.granted) throw new Error('not changed')
    await one.read('job', never)
    await other.acquire(claimOf('waits', { queue: true }), never)
    await one.release(changed.grant, never)
    const waited = await granted(other, 'waits')
    await other.break('job', { period: 0 }, never)
    await other.release(waited, never)
    await one.release(await granted(one, 'for ever', { ttl: Number.POSITIVE_INFINITY }), never)
    await watchOnce(one)
    for await (const record of one.list('job', within(5_000))) expect(record.name).toBe('job')
  } finally {
    await one.close()
    await other.close()
  }
}

async function watchOnce(store: RedisLeaseStore): Promise<void> {
  for await (const _ of store.watch('job', within(5_000))) return
  throw new Error('the watch yielded nothing')
}

/** The permissions that the error of a user without permissions advises. */
async function advice(scene: Scene, client: RedisClient): Promise<string[]> {
  const error = await scene
    .store(client)
    .acquire(claimOf('x'), never)
    .catch((reason: Error) => reason)
  expect(error).toBeInstanceOf(LeaseUnauthorisedError)
  return String(error).match(/(?<=\s)\+[\w|]+/g) ?? []
}

describeRedis('permissions', () => {
  it('over HTTP: a wrong token causes an error that says so, and shows no token and no command', async () => {
    await Scene.play(async (scene) => {
      const { port } = await scene.server({ password: PASSWORD })
      for (const password of ['not that', undefined]) {
        const store = scene.store(upstash.server({ port, password }))
        const error: unknown = await store.acquire(claimOf('x'), never).catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(LeaseUnauthorisedError)
        const shown = inspect(error, { depth: null, showHidden: true })
        expect(shown).not.toMatch(/not.that|EVALSHA|redis\.call/)
      }
      await granted(scene.store(upstash.server({ port, password: PASSWORD })), 'right')
    })
  })

  describe.concurrent.each(differingClusterLibraries)('by $name', { timeout: 60_000 }, (library) => {
    it('the permissions that the error names are sufficient, and each is needed', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const client = library.server({ port: server.port, username: 'app', password: PASSWORD })
        await allow(server, OWN)
        const notHere = library === glide ? /cluster|asking|ping/ : /cluster|asking|ping|info/
        const advised = (await advice(scene, client)).filter((rule) => !notHere.test(rule))
        expect(advised.length).toBeGreaterThan(5)
        await allow(server, [...OWN, ...advised])
        await doAll(scene, client, server)
        // GLIDE repeats a denied subscription without a word, until the store gives up.
        const unsaid = library === glide ? ['&leasehold:*', '+subscribe'] : []
        for (const missing of [...OWN, ...advised].filter((rule) => !unsaid.includes(rule))) {
          await allow(
            server,
            [...OWN, ...advised].filter((rule) => rule !== missing),
          )
          await expect(doAll(scene, client, server), missing).rejects.toThrow(LeaseUnauthorisedError)
        }
      })
    })

    it('in a cluster too', async () => {
      await Scene.play(async (scene) => {
        const cluster = await scene.cluster()
        const client = library.cluster(cluster.nodes, { username: 'app', password: PASSWORD })
        const [node] = cluster.nodes
        if (node === undefined) throw new Error('no node')
        for (const each of cluster.nodes) await allow(each, [...OWN, '+cluster|slots'])
        const advised = await advice(scene, client)
        for (const each of cluster.nodes) await allow(each, [...OWN, ...advised])
        await doAll(scene, client, node)
      })
    })

    it('a wrong password, no password and an unknown user cause errors that name the problem and no password', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server({ password: PASSWORD })
        await allow(server, OWN)
        const { port } = server
        const wrong = [
          { port, password: 'not that' },
          { port, username: 'app', password: 'not that' },
          { port, username: 'unknown', password: 'not that' },
          { port, username: 'app', password: PASSWORD },
          { port },
        ]
        for (const address of wrong) {
          const store = scene.store(library.server(address))
          const error: unknown = await store.acquire(claimOf('x'), never).catch((reason: unknown) => reason)
          expect(error).toBeInstanceOf(LeaseUnauthorisedError)
          const shown = inspect(error, { depth: null, showHidden: true })
          expect(shown).not.toContain('not that')
          expect(shown).not.toContain(PASSWORD)
        }
        await granted(scene.store(library.server({ port, password: PASSWORD })), 'right')
      })
    })

    it.skipIf(whyNoTls(redisProgram))('over TLS, with a password', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server({ tls: true, password: PASSWORD })
        const { port, password, ca } = server
        const [store, other] = [
          scene.store(library.server({ port, password, ca })),
          scene.store(library.server(server)),
        ]
        const held = await granted(store, 'held')
        await other.acquire(claimOf('waits', { queue: true }), never)
        expect(await store.renew(held, never)).toEqual({ renewed: true })
        expect(await store.release(held, never)).toEqual({ released: true })
        await granted(other, 'waits')
        // One that does not know the server asks nothing of it.
        const plain = scene.store(library.server({ port, password }))
        await expect(plain.read('job', within(5_000))).rejects.toThrow()
      })
    })
  })
})
