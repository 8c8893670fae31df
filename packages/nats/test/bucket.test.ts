import { randomUUID } from 'node:crypto'
import { LeaseConfigurationError, LeaseStoreUnfitError } from '@leasehold/core'
import { NatsGuard } from '@leasehold/nats'
import { describeNats } from '@leasehold/testing/describe-nats'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { NatsServer } from '@leasehold/testing/nats-server'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { Scene } from './support/scene.js'

describeNats('the bucket', () => {
  let server: NatsServer
  let connection: NatsConnection

  beforeAll(async () => {
    server = await NatsServer.start({ domain: 'hub' })
    connection = await connect({ servers: server.url })
  })

  afterAll(async () => {
    await connection.close()
    await server.stop()
  })

  const stream = async (bucket: string, config: object) => {
    const manager = await jetstreamManager(connection)
    await manager.streams.add({ name: `KV_${bucket}`, subjects: [`$KV.${bucket}.>`], ...config })
  }

  describe.concurrent('', () => {
    it('is made by the first grant, and by nothing else', ({ expect }) =>
      Scene.play(async (scene) => {
        const bucket = randomUUID()
        const store = scene.store(connection, { bucket })
        const manager = await jetstreamManager(connection)
        expect(await store.read('job', never)).toBeUndefined()
        await expect(manager.streams.info(`KV_${bucket}`)).rejects.toThrow('stream not found')
        await Promise.all(['a', 'b', 'c'].map((name) => granted(store, name, { name })))
        const { config } = await manager.streams.info(`KV_${bucket}`)
        expect(config).toMatchObject({ storage: 'file', discard: 'new', num_replicas: 1, max_age: 0, max_msgs: -1 })
      }))

    it('that is missing is an error with the command that makes it, where create is off', ({ expect }) =>
      Scene.play(async (scene) => {
        const store = scene.store(connection, { bucket: 'absent', create: false })
        const command = "make it with 'nats kv add absent --replicas=3'"
        for (const asked of [store.read('job', never), store.acquire(claimOf('g'), never)]) {
          const error = await asked.catch((reason: Error) => reason)
          expect(error).toBeInstanceOf(LeaseConfigurationError)
          expect((error as Error).message).toContain(command)
        }
        const guard = new NatsGuard(connection, { bucket: 'absent' })
        await expect(guard.write('k', 1n, 'v')).rejects.toThrow(command)
      }))

    it('is made by migrate, also where create is off, and stays as it is if it is there', ({ expect }) =>
      Scene.play(async (scene) => {
        const store = scene.store(connection, { bucket: 'migrated', create: false })
        await store.migrate()
        await store.migrate()
        expect(await store.acquire(claimOf('g'), never)).toMatchObject({ granted: true })
      }))

    it('that was deleted is an end of its grants, and new tokens are larger in the next one', ({ expect }) =>
      Scene.play(async (scene) => {
        const bucket = randomUUID()
        const store = scene.store(connection, { bucket })
        for (let count = 0; count < 20; count += 1) await granted(store, `${count}`, { name: `${count}` })
        const grant = await granted(store, 'first')
        await (await new Kvm(connection).open(bucket)).destroy()
        expect(await store.renew(grant, never)).toMatchObject({ renewed: false, reason: 'deleted' })
        expect((await granted(store, 'second')).fencingToken).toBeGreaterThan(grant.fencingToken)
      }))

    it.each([
      ['forgets by age', { max_age: 60e9 }, 'max_age', "--max-age=0'"],
      ['drops the oldest', { max_msgs: 5, discard: 'old' }, 'max_msgs', "--discard=new'"],
      ['drops the oldest bytes', { max_bytes: 5_000, discard: 'old' }, 'max_bytes', "--discard=new'"],
      ['is in memory', { storage: 'memory' }, 'storage', '--storage=file'],
    ])('that %s is refused, with what to change', (_, config, setting, change) =>
      Scene.play(async (scene) => {
        const bucket = randomUUID()
        await stream(bucket, { max_msgs_per_subject: 1, ...config })
        const error = await scene
          .store(connection, { bucket })
          .acquire(claimOf('g'), never)
          .catch((reason: Error) => reason)
        if (!(error instanceof LeaseStoreUnfitError)) throw error
        if (error.setting !== setting || !error.message.includes(change)) throw error
        await granted(scene.store(connection, { bucket, probe: false }), 'g')
        const guard = new NatsGuard(connection, { bucket })
        const refusal = await guard.write('k', 1n, 'v').catch((reason: Error) => reason)
        if (!(refusal instanceof LeaseStoreUnfitError)) throw refusal
      }),
    )

    it('that was changed while it is in use is refused by the next grant', ({ expect }) =>
      Scene.play(async (scene) => {
        const bucket = randomUUID()
        const store = scene.store(connection, { bucket })
        await granted(store, 'first')
        const manager = await jetstreamManager(connection)
        await manager.streams.update(`KV_${bucket}`, { max_age: 600e9 })
        const refused = store.acquire(claimOf('second', { name: 'other' }), never)
        await expect(refused).rejects.toThrow(LeaseStoreUnfitError)
      }))

    it('that is full refuses new grants, and heartbeats and releases go on', ({ expect }) =>
      Scene.play(async (scene) => {
        const bucket = randomUUID()
        await stream(bucket, { max_msgs_per_subject: 1, max_msgs: 2, discard: 'new' })
        const store = scene.store(connection, { bucket })
        const grant = await granted(store, 'first')
        await granted(store, 'second', { name: 'b' })
        await expect(store.acquire(claimOf('third', { name: 'c' }), never)).rejects.toThrow('maximum messages exceeded')
        expect(await store.renew(grant, never)).toEqual({ renewed: true })
        expect(await store.release(grant, never)).toEqual({ released: true })
      }))

    it('of another domain is reached through it', ({ expect }) =>
      Scene.play(async (scene) => {
        const bucket = randomUUID()
        const grant = await granted(scene.store(connection, { bucket, domain: 'hub' }), 'first')
        expect(await scene.store(connection, { bucket }).read('job', never)).toMatchObject({ grantId: 'first' })
        expect(grant.fencingToken).toBeGreaterThan(0n)
        const elsewhere = scene.store(connection, { bucket, domain: 'other' })
        await expect(elsewhere.read('job', never)).rejects.toThrow(
          'JetStream is not enabled for this account or domain',
        )
      }))

    it('keeps any name as one key, and lists it', ({ expect }) =>
      Scene.play(async (scene) => {
        const store = scene.store(connection, { bucket: randomUUID() })
        const names = [
          'a.b',
          '.a',
          'a..b',
          'a.',
          'a b',
          '*',
          '>',
          'a=2eb',
          'ü',
          '😀',
          'x'.repeat(1_024),
          '€'.repeat(341),
        ]
        for (const name of names) await granted(store, randomUUID(), { name })
        const listed: string[] = []
        for await (const { name } of store.list?.('', never) ?? []) listed.push(name)
        expect(listed.toSorted()).toEqual(names.toSorted())
      }))

    it('with an entry of another program under the name says so, and keeps it', ({ expect }) =>
      Scene.play(async (scene) => {
        const bucket = randomUUID()
        const store = scene.store(connection, { bucket })
        await granted(store, 'first', { name: 'other' })
        const kv = await new Kvm(connection).open(bucket)
        for (const value of ['hello', '{"owner":"x"}', '']) {
          await kv.put('job', value)
          await expect(store.acquire(claimOf('g'), never)).rejects.toThrow(
            "the entry of 'job' in the nats store is no lease record",
          )
          expect((await kv.get('job'))?.string()).toBe(value)
        }
      }))

    it.each(['delete', 'purge'] as const)('in which an operator %ss the key of a lease ends the grant', (operation) =>
      Scene.play(async (scene) => {
        const bucket = randomUUID()
        const store = scene.store(connection, { bucket })
        const grant = await granted(store, 'first')
        const kv = await new Kvm(connection).open(bucket)
        await kv[operation]('job')
        const outcome = await store.renew(grant, never)
        if (outcome.renewed || outcome.reason !== 'deleted') throw new Error(JSON.stringify(outcome))
        const next = await granted(store, 'second')
        if (next.fencingToken <= grant.fencingToken) throw new Error(`${next.fencingToken}`)
      }),
    )

    it.each([
      ['a bucket with a dot', { bucket: 'a.b' }, "letters, digits, '-' and '_' only, not a.b"],
      ['a bucket that is no text', { bucket: 5 as never }, 'not 5'],
      ['a domain with a wildcard', { domain: '*' }, "without spaces, '.', '*' and '>', not *"],
      ['a negative difference of clocks', { clockDifference: -1 }, 'clockDifference'],
    ])('%s is a LeaseConfigurationError', (_, options, message) =>
      Scene.play(async (scene) => {
        try {
          scene.store(connection, options)
        } catch (error) {
          if (error instanceof LeaseConfigurationError && error.message.includes(message)) return
          throw error
        }
        throw new Error('no error')
      }),
    )
  })
})
