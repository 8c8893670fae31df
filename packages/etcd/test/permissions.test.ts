import { randomUUID } from 'node:crypto'
import { LeaseUnauthorisedError } from '@leasehold/core'
import { EtcdGuard } from '@leasehold/etcd'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Scene, warmUp } from './support/scene.js'

const ROOT = ['--user', 'root:secret']

/** Each test has a prefix or keys of its own; they run side by side. */
describeEtcd('users without permission to write', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start()
    await server.ctl('user', 'add', 'root:secret')
    await server.ctl('user', 'grant-role', 'root', 'root')
    const roles: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
      app: [['readwrite', 'leasehold/']],
      reader: [['read', 'leasehold/']],
      // It may write fences, and read the data that they guard.
      fencer: [
        ['readwrite', 'leasehold-fence/'],
        ['read', 'data/'],
      ],
      // It may write the data, but no fence.
      writer: [['readwrite', 'data/']],
    }
    for (const [user, permissions] of Object.entries(roles)) {
      await server.ctl('role', 'add', user)
      for (const [permission, prefix] of permissions) {
        await server.ctl('role', 'grant-permission', user, permission, '--prefix=true', prefix)
      }
      await server.ctl('user', 'add', `${user}:${user}`)
      await server.ctl('user', 'grant-role', user, user)
    }
    await warmUp(server)
    await server.ctl('auth', 'enable')
  })

  afterAll(() => server.stop())

  const as = (user: string) => ({ endpoints: [server.url], username: user, password: user })
  const read = async (key: string) => (await server.ctl(...ROOT, 'get', key, '--print-value-only')).trimEnd()

  describe.concurrent('', () => {
    it.each([1, 40])('are refused each of their claims, of which %i are made at once', (count) =>
      Scene.play(async (scene) => {
        const store = scene.storeWith(as('reader'))
        const names = Array.from({ length: count }, () => randomUUID())
        const outcomes = await Promise.all(
          names.map((name) => store.acquire(claimOf(randomUUID(), { name }), never).catch((error: unknown) => error)),
        )
        expect(outcomes.filter((outcome) => !(outcome instanceof LeaseUnauthorisedError))).toEqual([])
        for (const name of names) expect(await store.read(name, never)).toBeUndefined()
      }),
    )

    it('are refused a place in the queue', () =>
      Scene.play(async (scene) => {
        const name = randomUUID()
        await granted(scene.storeWith(as('app')), randomUUID(), { name })
        const store = scene.storeWith(as('reader'))
        const claiming = store.acquire(claimOf(randomUUID(), { name, queue: true }), never)
        await expect(claiming).rejects.toThrow(LeaseUnauthorisedError)
        expect(await store.read(name, never)).toMatchObject({ waiters: 0 })
      }))

    it.each([
      ['fencer', 'the key'],
      ['writer', 'the fence'],
    ])('are refused a guarded write: %s, who may not write %s', (user) =>
      Scene.play(async (scene) => {
        const key = `data/${randomUUID()}`
        const guard = new EtcdGuard(scene.client(as(user)))
        await expect(guard.write(key, 1n, 'stolen')).rejects.toThrow(LeaseUnauthorisedError)
        await expect(guard.delete(key, 1n)).rejects.toThrow(LeaseUnauthorisedError)
        const conditional = { when: [{ key, modRevision: 0n }], write: [{ put: key, value: 'stolen' }] }
        await expect(guard.transact(key, 1n, conditional)).rejects.toThrow(LeaseUnauthorisedError)
        // Also where there is a fence already.
        await new EtcdGuard(scene.client({ ...as('root'), password: 'secret' })).write(key, 1n, 'kept')
        await expect(guard.write(key, 2n, 'stolen')).rejects.toThrow(
          /grant the user .*'data\/.*'leasehold-fence\/data\//,
        )
        await expect(guard.transact(key, 2n, conditional)).rejects.toThrow(LeaseUnauthorisedError)
        expect(await read(key)).toBe('kept')
      }),
    )
  })
})
