import { randomUUID } from 'node:crypto'
import { createLease } from '@leasehold/core'
import { NatsGuard, NatsLeaseStore } from '@leasehold/nats'
import { describeNats } from '@leasehold/testing/describe-nats'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { NatsServer } from '@leasehold/testing/nats-server'
import { passed } from '@leasehold/testing/real-time'
import { Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, it } from 'vitest'

describeNats('the requests of', () => {
  let server: NatsServer
  let connection: NatsConnection

  beforeAll(async () => {
    server = await NatsServer.start()
    connection = await connect({ servers: server.url })
    await new Kvm(connection).create('leasehold')
    await new Kvm(connection).create('data')
  })

  afterAll(async () => {
    await connection.close()
    await server.stop()
  })

  /** A store that counts its requests, by what they ask for. */
  const counting = () => {
    const sent: string[] = []
    const request: NatsConnection['request'] = (subject, ...others) => {
      sent.push(subject.startsWith('$KV.') ? 'write' : (/^\$JS\.API\.(.*)\.KV_/.exec(subject)?.[1] ?? subject))
      return connection.request(subject, ...others)
    }
    const counted = new Proxy(connection, {
      get: (target, key) => {
        const value: unknown = key === 'request' ? request : Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const of = async (operation: () => Promise<unknown>): Promise<string> => {
      sent.length = 0
      await operation()
      return sent.join()
    }
    return { store: new NatsLeaseStore(counted), guard: new NatsGuard(counted, { bucket: 'data' }), of, sent }
  }

  const [read, look] = ['STREAM.MSG.GET', 'STREAM.INFO']

  describe.concurrent('', () => {
    it('each operation are those of the table', async ({ expect }) => {
      const { store, of } = counting()
      const name = randomUUID()
      const rival = new NatsLeaseStore(connection)
      expect(await of(() => granted(store, 'first', { name }))).toBe(`${read},write,${look},write`)
      const found = await rival.read(name, never)
      if (found === undefined) throw new Error('there is no record')
      const { fencingToken } = found
      const grant = { ...claimOf('first', { name }), fencingToken }
      expect(await of(() => store.renew(grant, never))).toBe('write')
      expect(await of(() => store.update(grant, { a: 'b' }, never))).toBe('write')
      expect(await of(() => store.read(name, never))).toBe(`${read},${look}`)
      expect(await of(() => store.acquire(claimOf('second', { name }), never))).toBe(`${read},${look}`)
      expect(await of(() => store.release(grant, never))).toBe('write')
      expect(await of(() => store.read(name, never))).toBe(read)
      expect(await of(() => granted(store, 'third', { name }))).toBe(`${read},${look},write`)
      await rival.break(name, { period: 0 }, never)
      expect(await of(() => granted(store, 'fourth', { name }))).toBe(`${read},${look},${look},write`)
    })

    it('a guarded write are a read and a write, and once a look at the bucket', async ({ expect }) => {
      const { guard, of } = counting()
      const key = randomUUID()
      expect(await of(() => guard.write(key, 1n, 'v'))).toBe(`${look},${read},write`)
      expect(await of(() => guard.write(key, 1n, 'v'))).toBe(`${read},write`)
    })

    it('a waiter are none while the holder renews its lease', async ({ expect }) => {
      const { store, sent } = counting()
      const name = randomUUID()
      const times = { heartbeatTimeout: 4_000, heartbeatInterval: 500, operationTimeout: 1_000 }
      const holder = createLease(new NatsLeaseStore(connection), name, times)
      await holder.acquire()
      const waiter = createLease(store, name, times)
      const waiting = waiter.acquire({ wait: 30_000 })
      await passed(500)
      sent.length = 0
      await passed(3_000)
      expect(sent.length, sent.join()).toBeLessThanOrEqual(2)
      await holder.release()
      expect(await waiting).toBe(true)
      await waiter.release()
    })
  })
})
