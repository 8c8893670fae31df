import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { credentials } from '@grpc/grpc-js'
import { LeaseProvider, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { etcdLease } from '@leasehold/etcd'
import { temporaryFolder } from '@leasehold/testing'
import { certificate } from '@leasehold/testing/certificate'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { passed } from '@leasehold/testing/real-time'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { Scene, warmUp } from './support/scene.js'

describeEtcd('with users', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start({ args: ['--auth-token-ttl', '2'] })
    await server.ctl('user', 'add', 'root:secret')
    await server.ctl('user', 'grant-role', 'root', 'root')
    await server.ctl('role', 'add', 'leases')
    await server.ctl('role', 'grant-permission', 'leases', 'readwrite', '--prefix=true', 'leasehold/')
    await server.ctl('user', 'add', 'app:app secret')
    await server.ctl('user', 'grant-role', 'app', 'leases')
    await server.ctl('user', 'add', 'guest:guest')
    await warmUp(server)
    await server.ctl('auth', 'enable')
  })

  afterAll(() => server.stop())

  const as = (scene: Scene, username: string, password: string) =>
    scene.storeWith({ endpoints: [server.url], username, password })

  describe.concurrent('', () => {
    it('a user with access to the prefix alone holds leases, also when its tokens expire', ({ expect }) =>
      Scene.play(async (scene) => {
        const store = as(scene, 'app', 'app secret')
        const name = randomUUID()
        const holder = scene.player('holder', store, { name })
        await holder.lease.acquire()
        const waiter = scene.player('waiter', as(scene, 'app', 'app secret'), { name })
        const waiting = waiter.lease.acquire({ wait: Number.POSITIVE_INFINITY })
        await passed(9_000)
        expect(holder.losses).toEqual([])
        expect(holder.lease.checkLease()).toBe(true)
        await holder.lease.release()
        expect(await waiting).toBe(true)
        await waiter.lease.release()
        await passed(4_000)
        await granted(store, randomUUID(), { name })
      }))

    it.each([
      ['a wrong password', 'app', 'wrong', /check the username and the password/],
      ['an unknown user', 'nobody', 'app', /check the username and the password/],
      ['a user without access', 'guest', 'guest', /read and write access to the prefix/],
    ])('%s is a LeaseUnauthorisedError', (_, username, password, message) =>
      Scene.play(async (scene) => {
        const failure = await as(scene, username, password)
          .acquire(claimOf(randomUUID()), never)
          .catch((error: Error) => error)
        if (!(failure instanceof LeaseUnauthorisedError) || !message.test(failure.message)) throw failure
      }),
    )

    it('no user is a LeaseUnauthorisedError', ({ expect }) =>
      Scene.play(async (scene) => {
        await expect(scene.store(server).read('job', never)).rejects.toThrow(LeaseUnauthorisedError)
      }))
  })
})

describeEtcd('without users', () => {
  it('a username and a password are not needed, and do no harm', () =>
    Scene.play(async (scene) => {
      const server = await scene.server()
      const store = scene.storeWith({ endpoints: [server.url], username: 'app', password: 'app' })
      await granted(store, randomUUID())
    }))
})

describeEtcd('by TLS', () => {
  it("the user's credentials of gRPC are those of all connections", ({ expect }) =>
    Scene.play(async (scene) => {
      const folder = temporaryFolder()
      const { cert, key } = await certificate()
      const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
      writeFileSync(certFile, cert)
      writeFileSync(keyFile, key)
      const server = await scene.server({
        scheme: 'https',
        args: ['--cert-file', certFile, '--key-file', keyFile, '--client-cert-auth', '--trusted-ca-file', certFile],
      })
      const endpoints = [`https://localhost:${server.port}`]
      const [authority, secret] = [Buffer.from(cert), Buffer.from(key)]
      const own = credentials.createSsl(authority, secret, authority)
      await granted(scene.storeWith({ endpoints, credentials: own }), randomUUID())
      const stranger = scene.storeWith({ endpoints, credentials: credentials.createSsl(authority) })
      await expect(stranger.read('job', never)).rejects.toThrow(LeaseUnavailableError)
    }))

  it('a configuration trusts a certificate, and shows its own', ({ expect }) =>
    Scene.play(async (scene) => {
      const folder = temporaryFolder()
      const { cert, key } = await certificate()
      const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
      writeFileSync(certFile, cert)
      writeFileSync(keyFile, key)
      const server = await scene.server({
        scheme: 'https',
        args: ['--cert-file', certFile, '--key-file', keyFile, '--client-cert-auth', '--trusted-ca-file', certFile],
      })
      const provide = (block: object) => {
        const times = { 'heartbeat-timeout': '10s', 'heartbeat-interval': '2s', 'lease-operation-timeout': '2s' }
        const job = { 'lease-class': 'etcd', ...times, endpoints: [`https://localhost:${server.port}`], ...block }
        const provider = new LeaseProvider({ job }, { etcd: etcdLease })
        scene.atEnd(() => provider.close())
        return provider.getLease('job', 'job')
      }
      const lease = await provide({ 'ca-file': certFile, 'cert-file': certFile, 'key-file': keyFile })
      expect(await lease.acquire()).toBe(true)
      await lease.release()
      const stranger = await provide({ 'ca-file': certFile })
      await expect(stranger.acquire()).rejects.toThrow(LeaseUnavailableError)
    }))
})
