import { randomUUID } from 'node:crypto'
import { createLease, LeaseUnauthorisedError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { EtcdClient, EtcdGuard, EtcdLeaseStore } from '@leasehold/etcd'
import { eventually, silentLogger } from '@leasehold/testing'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { freePort } from '@leasehold/testing/free-port'
import { granted } from '@leasehold/testing/job-claims'
import { passed } from '@leasehold/testing/real-time'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { Etcd3, type IOptions } from 'etcd3'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { never, onServer } from './support/law-subjects.js'
import { Scene, warmUp } from './support/scene.js'

describeEtcd('an Etcd3 object of the user', () => {
  let server: EtcdServer
  let etcd3: Etcd3
  let client: EtcdClient

  beforeAll(async () => {
    server = await EtcdServer.start()
    etcd3 = new Etcd3({ hosts: server.url })
    client = new EtcdClient({ etcd3 })
  })

  afterAll(async () => {
    client.close()
    etcd3.close()
    await server.stop()
  })

  describeStoreLaws(
    onServer(
      () => server,
      () => client,
      "the user's Etcd3 object",
    ),
  )

  describe.concurrent('', () => {
    it('serves a guard, and is usable when store and client are closed', async ({ expect }) => {
      const own = new EtcdClient({ etcd3 })
      const key = randomUUID()
      await new EtcdGuard(own).write(key, 5n, 'by the first')
      await new EtcdLeaseStore(own).close()
      own.close()
      expect((await etcd3.getAll().prefix('').keys()).some((one) => one.includes(key))).toBe(true)
    })

    it('that the user closes is an error of each call, and no loss of the process', ({ expect }) =>
      Scene.play(async (scene) => {
        const given = new Etcd3({ hosts: server.url })
        const store = scene.storeWith({ etcd3: given })
        expect(await store.read('job', never)).toBe(undefined)
        given.close()
        await expect(store.read('job', never)).rejects.toMatchObject({
          code: 'unavailable',
          message: expect.stringContaining('closed'),
        })
      }))

    it('with a host that is down, goes to the other one', ({ expect }) =>
      Scene.play(async (scene) => {
        const down = `http://127.0.0.1:${await freePort()}`
        for (const hosts of [
          [down, server.url],
          [server.url, down],
        ]) {
          const store = scene.storeWith({ etcd3: ownedBy(scene, { hosts }) })
          for (let count = 0; count < 5; count += 1) expect(await store.read('job', never)).toBe(undefined)
        }
      }))

    it('a request that is aborted ends at once, and later ones find the server again', ({ expect }) =>
      Scene.play(async (scene) => {
        const proxy = await scene.proxy(server)
        const store = scene.storeWith({ etcd3: ownedBy(scene, { hosts: `http://127.0.0.1:${proxy.port}` }) })
        expect(await store.read('job', never)).toBe(undefined)
        proxy.blackHole()
        const call = new AbortableCall()
        const reason = new Error('enough')
        const reading = store.read('job', call)
        call.abort(reason)
        await expect(reading).rejects.toBe(reason)
        proxy.heal()
        await eventually('it is found again', async () => (await store.read('job', never)) === undefined)
      }))
  })
})

describeEtcd('an Etcd3 object with a user', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start({ args: ['--auth-token-ttl', '2'] })
    await server.ctl('user', 'add', 'root:secret')
    await server.ctl('user', 'grant-role', 'root', 'root')
    await server.ctl('role', 'add', 'leases')
    await server.ctl('role', 'grant-permission', 'leases', 'readwrite', '--prefix=true', 'leasehold/')
    await server.ctl('user', 'add', 'app:app secret')
    await server.ctl('user', 'grant-role', 'app', 'leases')
    await warmUp(server)
    await server.ctl('auth', 'enable')
  })

  afterAll(() => server.stop())

  const as = (scene: Scene, username: string, password: string): Etcd3 =>
    ownedBy(scene, { hosts: server.url, auth: { username, password } })

  describe.concurrent('', () => {
    it('holds leases and waits for them, also when its tokens expire or are revoked', ({ expect }) =>
      Scene.play(async (scene) => {
        const name = randomUUID()
        const store = scene.storeWith({ etcd3: as(scene, 'app', 'app secret') })
        const holder = scene.player('holder', store, { name })
        await holder.lease.acquire()
        const waiter = scene.player('waiter', scene.storeWith({ etcd3: as(scene, 'app', 'app secret') }), { name })
        const waiting = waiter.lease.acquire({ wait: Number.POSITIVE_INFINITY })
        await passed(5_000)
        // A change of users makes all tokens old.
        await server.ctl('user', 'add', `other${randomUUID()}:x`, '--user', 'root:secret')
        await passed(4_000)
        expect(holder.losses).toEqual([])
        await holder.lease.release()
        expect(await waiting).toBe(true)
        await waiter.lease.release()
        await passed(4_000)
        await granted(store, randomUUID(), { name })
      }))

    it('with a wrong password is a LeaseUnauthorisedError that says what to check', ({ expect }) =>
      Scene.play(async (scene) => {
        const store = scene.storeWith({ etcd3: as(scene, 'app', 'wrong') })
        const acquiring = createLease(store, 'job', { logger: silentLogger }).acquire()
        await expect(acquiring).rejects.toBeInstanceOf(LeaseUnauthorisedError)
        await expect(store.read('job', never)).rejects.toThrow('check the username and the password')
      }))
  })
})

/** Closed when the scene is over, after the stores. */
function ownedBy(scene: Scene, options: IOptions): Etcd3 {
  const etcd3 = new Etcd3(options)
  scene.atEnd(async () => etcd3.close())
  return etcd3
}
