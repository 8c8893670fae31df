import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseConfigurationError, LeaseProvider, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { natsLease } from '@leasehold/nats'
import { eventually, freePort, temporaryFolder } from '@leasehold/testing'
import { certificate } from '@leasehold/testing/certificate'
import { describeNats } from '@leasehold/testing/describe-nats'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { hasRenewed } from '@leasehold/testing/players'
import { within } from '@leasehold/testing/real-time'
import { nkeys } from '@nats-io/transport-node'
import { describe, it } from 'vitest'
import { Scene } from './support/scene.js'

/** The permissions that the guide lists, for the bucket `leasehold`. */
const allowed = [
  '$JS.API.STREAM.INFO.KV_leasehold',
  '$JS.API.STREAM.MSG.GET.KV_leasehold',
  '$JS.API.CONSUMER.CREATE.KV_leasehold.>',
  '$KV.leasehold.>',
]

const users = `
authorization {
  timeout: 20
  users: [
    { user: admin, password: admin }
    { user: app, password: "app secret", permissions: { publish: ${JSON.stringify(allowed)}, subscribe: ["_INBOX.>"] } }
    { user: own, password: own, permissions: { publish: ${JSON.stringify(allowed)}, subscribe: ["_INBOX_own.>"] } }
    { user: guest, password: guest, permissions: { publish: ["none"], subscribe: ["_INBOX.>"] } }
  ]
}`

describeNats('of the servers,', () => {
  describe.concurrent('', () => {
    it('one with users lets one with the permissions of the guide hold leases and wait', ({ expect }) =>
      Scene.play(async (scene) => {
        const { url, ...server } = await scene.server({ config: users })
        expect(server.port).toBeGreaterThan(0)
        await granted(scene.store({ servers: [url], user: 'admin', password: 'admin' }), 'first', { name: 'other' })
        const app = scene.store({ servers: [url], user: 'app', password: 'app secret' })
        const own = await scene.connect(url, { user: 'own', pass: 'own', inboxPrefix: '_INBOX_own' })
        const holder = scene.player('holder', app)
        expect(await holder.lease.acquire()).toBe(true)
        const waiter = scene.player('waiter', scene.store(own))
        const waiting = waiter.lease.acquire({ wait: 30_000 })
        await hasRenewed(holder, 1)
        await holder.lease.release()
        expect(await waiting).toBe(true)
        expect(waiter.overlaps).toEqual([])
      }))

    it('one with users rejects others with a LeaseUnauthorisedError', ({ expect }) =>
      Scene.play(async (scene) => {
        const { url } = await scene.server({ config: users })
        for (const [user, password] of [
          ['app', 'wrong'],
          ['nobody', 'app secret'],
          [undefined, undefined],
        ]) {
          const store = scene.store({ servers: [url], user, password })
          const error = await store.acquire(claimOf('g'), never).catch((reason: Error) => reason)
          expect(error).toBeInstanceOf(LeaseUnauthorisedError)
          expect((error as Error).message).toContain('check the user and the password')
        }
        const guest = scene.store({ servers: [url], user: 'guest', password: 'guest' })
        const error = await guest.acquire(claimOf('g'), never).catch((reason: Error) => reason)
        expect(error).toBeInstanceOf(LeaseUnauthorisedError)
        expect((error as Error).message).toMatch(/STREAM\.MSG\.GET.*the guide of this store lists the subjects/)
      }))

    it('one with a token, and one with NKeys, take these options', ({ expect, onTestFinished }) =>
      Scene.play(async (scene) => {
        const folder = temporaryFolder({ onTestFinished })
        const user = nkeys.createUser()
        const nkeyFile = join(folder, 'seed')
        writeFileSync(nkeyFile, `${new TextDecoder().decode(user.getSeed())}\n`)
        const withToken = await scene.server({ config: 'authorization { timeout: 20, token: s3cret }' })
        const withKey = await scene.server({
          config: `authorization { timeout: 20, users: [{ nkey: ${user.getPublicKey()} }] }`,
        })
        await granted(scene.store({ servers: [withToken.url], token: 's3cret' }), 'g')
        await granted(scene.store({ servers: [withKey.url], nkeyFile }), 'g')
        const wrong = scene.store({ servers: [withToken.url], token: 'other' }).read('job', never)
        await expect(wrong).rejects.toThrow(LeaseUnauthorisedError)
        const missing = scene.store({ servers: [withKey.url], nkeyFile: join(folder, 'none') }).read('job', never)
        await expect(missing).rejects.toThrow(/nkey-file cannot be read: .*ENOENT/)
      }))

    it('one whose password changes in the middle ends a lease, and the next grant tells why', () =>
      Scene.play(async (scene) => {
        const server = await scene.server({ config: 'authorization { timeout: 20, user: a, password: one }' })
        const store = scene.store({ servers: [server.url], user: 'a', password: 'one' })
        await granted(store, 'first')
        server.reload('authorization { timeout: 20, user: a, password: two }')
        await eventually('the password is refused', async () => {
          const error = await store.read('job', within(2_000)).catch((reason: Error) => reason)
          return error instanceof LeaseUnauthorisedError
        })
        server.reload('authorization { timeout: 20, user: a, password: one }')
        await eventually('it is accepted again', async () => {
          return (await store.read('job', within(2_000)))?.grantId === 'first'
        })
      }))

    it('one with TLS is trusted by its certificate', ({ expect, onTestFinished }) =>
      Scene.play(async (scene) => {
        const folder = temporaryFolder({ onTestFinished })
        const { cert, key } = await certificate()
        const [caFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
        writeFileSync(caFile, cert)
        writeFileSync(keyFile, key)
        const { port } = await scene.server({ config: `tls { cert_file: "${caFile}", key_file: "${keyFile}" }` })
        const job = { 'lease-class': 'nats', servers: [`tls://localhost:${port}`], 'ca-file': caFile, bucket: 'secure' }
        const provider = new LeaseProvider({ job }, { nats: natsLease })
        scene.atEnd(() => provider.close())
        const lease = await provider.getLease('job', 'job')
        expect(await lease.acquire()).toBe(true)
        await lease.release()
        const stranger = scene.store({ servers: [`tls://localhost:${port}`] }).read('job', never)
        await expect(stranger).rejects.toThrow(/self-signed certificate/)
        const plain = await scene.server()
        await expect(scene.store({ servers: [plain.url.replace('nats:', 'tls:')] }).read('job', never)).rejects.toThrow(
          LeaseUnavailableError,
        )
      }))

    it('one that is not there is a LeaseUnavailableError at once, and is found when it is there', ({ expect }) =>
      Scene.play(async (scene) => {
        const servers = [`nats://127.0.0.1:${await freePort()}`]
        const error = await scene
          .store({ servers })
          .acquire(claimOf('g'), never)
          .catch((reason: Error) => reason)
        expect(error).toBeInstanceOf(LeaseUnavailableError)
        expect((error as Error).message).toMatch(/refused/i)
      }))

    it('one without JetStream says so', ({ expect }) =>
      Scene.play(async (scene) => {
        const { url } = await scene.server({ jetStream: false })
        const error = await scene
          .store({ servers: [url] })
          .acquire(claimOf('g'), never)
          .catch((reason: Error) => reason)
        expect(error).toBeInstanceOf(LeaseUnavailableError)
        expect((error as Error).message).toContain('JetStream is not enabled')
      }))

    it('one with an account without JetStream says so', ({ expect }) =>
      Scene.play(async (scene) => {
        const config = `
          accounts { A { jetstream: enabled, users: [{ user: a, password: a }] }, B { users: [{ user: b, password: b }] } }`
        const { url } = await scene.server({ config })
        const store = scene.store({ servers: [url], user: 'b', password: 'b' })
        const error = await store.acquire(claimOf('g'), never).catch((reason: Error) => reason)
        expect([LeaseConfigurationError, LeaseUnavailableError].some((kind) => error instanceof kind)).toBe(true)
        expect((error as Error).message).toMatch(/JetStream/)
      }))
  })
})
