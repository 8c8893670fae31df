import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { LeaseConfigurationError, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { within } from '@leasehold/testing/real-time'
import { UpstashFront } from '@leasehold/testing/upstash-front'
import { TcpProxy } from '@leasehold/testkit'
import { Redis as Upstash } from '@upstash/redis'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { untilInLine } from './support/line.js'
import { Scene } from './support/scene.js'

/** A server, and the front by which clients ask it. */
async function fronted(scene: Scene, config: object = {}) {
  const server = await scene.server()
  const front = await UpstashFront.start()
  scene.atEnd(() => front.stop())
  return { server, front, client: new Upstash({ ...front.access(server), enableTelemetry: false, ...config }) }
}

describe('a client of @upstash/redis', () => {
  it('without a URL or a token is refused when the store is made', () => {
    for (const config of [
      { url: '', token: 'x' },
      { url: 'https://x.example', token: '' },
    ]) {
      expect(() => new RedisLeaseStore(new Upstash(config))).toThrow(LeaseConfigurationError)
      expect(() => new RedisLeaseStore(new Upstash(config))).toThrow('UPSTASH_REDIS_REST_TOKEN')
    }
  })

  it('takes a poll interval of 100 ms to a minute, which a client with a subscription does not', () => {
    const client = new Upstash({ url: 'https://x.example', token: 'x' })
    for (const pollInterval of [99, 60_001, Number.NaN]) {
      expect(() => new RedisLeaseStore(client, { pollInterval })).toThrow('pollInterval must be 100 ms to 60000 ms')
    }
    const subscribes = new Redis({ lazyConnect: true })
    expect(() => new RedisLeaseStore(subscribes, { pollInterval: 500 })).toThrow('clients without a subscription')
  })
})

describeRedis('over HTTP,', () => {
  it.concurrent.each([
    { responseEncoding: 'base64' },
    { responseEncoding: false, automaticDeserialization: true },
    { enableAutoPipelining: false, readYourWrites: false },
  ] as const)('texts that look like JSON or base64 stay as they are, with %o', async (config) => {
    await Scene.play(async (scene) => {
      const { client } = await fronted(scene, config)
      const store = scene.store(client)
      for (const text of ['123', 'null', 'true', '{"a":1}', '"x"', '1e999', 'OK', 'T0s=', 'ü\u0000 ']) {
        const claim = { name: text, owner: text, metadata: { [text]: text } }
        await granted(store, `grant ${text}`, claim)
        expect(await store.read(text, never)).toMatchObject({ ...claim, grantId: `grant ${text}` })
      }
    })
  })

  it.concurrent('waiters are served in order, also among those of a client that subscribes', async () => {
    await Scene.play(async (scene) => {
      const { server, client } = await fronted(scene)
      const polling = scene.store(client, { pollInterval: 300 })
      const notified = scene.store(new Redis(server.url, { lazyConnect: true }))
      const holder = scene.player('holder', notified)
      await holder.lease.acquire()
      const served: string[] = []
      const turns = []
      for (const [place, store] of [polling, notified, polling, polling, notified].entries()) {
        const { lease, overlaps } = scene.player(`${place}`, store)
        turns.push(
          lease.acquire({ wait: 30_000 }).then(async () => {
            served.push(`${place}`, ...overlaps)
            await lease.release()
          }),
        )
        await untilInLine(server, turns.length)
      }
      await holder.lease.release()
      await Promise.all(turns)
      expect(served).toEqual(['0', '1', '2', '3', '4'])
    })
  })

  it.concurrent('a waiter costs one command for each poll, and none after its turn', async () => {
    await Scene.play(async (scene) => {
      const { front, client } = await fronted(scene)
      const store = scene.store(client, { pollInterval: 400 })
      // Heartbeats that come seldom.
      const times = { heartbeatTimeout: 120_000, heartbeatInterval: 30_000, operationTimeout: 2_000 }
      const [a, b] = [scene.player('a', store, times), scene.player('b', store, times)]
      await a.lease.acquire()
      const before = front.requests
      const waiting = b.lease.acquire({ wait: 30_000 })
      await sleep(3_000)
      // The claim, and polls of 200 to 400 ms.
      expect(front.requests - before).toBeGreaterThan(4)
      expect(front.requests - before).toBeLessThan(20)
      const released = systemClock.now()
      await a.lease.release()
      expect(await waiting).toBe(true)
      expect(systemClock.now() - released).toBeLessThan(3_000)
      const after = front.requests
      await sleep(1_000)
      expect(front.requests - after).toBe(0)
    })
  })

  it.concurrent('a waiter that is gone holds up the others for five poll intervals, and not for a ttl', async () => {
    await Scene.play(async (scene) => {
      const { client } = await fronted(scene)
      const [gone, store] = [scene.store(client, { pollInterval: 200 }), scene.store(client, { pollInterval: 200 })]
      const held = await granted(store, 'held', { ttl: 60_000 })
      await gone.acquire(claimOf('gone', { queue: true, ttl: 60_000 }), never)
      await store.release(held, never)
      expect((await store.acquire(claimOf('next', { ttl: 60_000 }), never)).granted).toBe(false)
      await eventually('the next is granted', async () => {
        return (await store.acquire(claimOf('next', { ttl: 60_000 }), never)).granted
      })
    })
  })

  it.concurrent('a watch notices that the name is free', async () => {
    await Scene.play(async (scene) => {
      const { client } = await fronted(scene)
      const store = scene.store(client, { pollInterval: 100 })
      const held = await granted(store, 'held')
      let noticed = 0
      const call = within(20_000)
      const watching = (async () => {
        for await (const _ of store.watch('job', call)) {
          noticed += 1
          break
        }
      })()
      await sleep(700)
      expect(noticed).toBe(0)
      await store.release(held, never)
      await watching
      expect(noticed).toBe(1)
    })
  })

  it.concurrent('a server that has forgotten the script is sent it again', async () => {
    await Scene.play(async (scene) => {
      const { server, client } = await fronted(scene)
      const store = scene.store(client)
      const held = await granted(store, 'held')
      await server.command('SCRIPT', 'FLUSH')
      expect(await store.renew(held, never)).toEqual({ renewed: true })
    })
  })

  it.concurrent('an endpoint that is down, at first and later, is asked once for each attempt, and used as soon as it is up', async () => {
    await Scene.play(async (scene) => {
      const { server, front } = await fronted(scene)
      const way = await TcpProxy.to(front.port)
      scene.atEnd(() => way.close())
      const { token } = front.access(server)
      const store = scene.store(new Upstash({ url: `http://127.0.0.1:${way.port}/${server.port}`, token }))
      const fetched = vi.spyOn(globalThis, 'fetch')
      way.refuse()
      const error: unknown = await store.acquire(claimOf('x'), never).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(LeaseUnavailableError)
      expect(fetched.mock.calls.filter(([url]) => String(url).includes(`:${way.port}/`)).length).toBe(1)
      way.heal()
      const held = await granted(store, 'held')
      way.blackHole()
      await expect(store.renew(held, within(500))).rejects.toThrow('not within 500 ms')
      way.heal()
      expect(await store.renew(held, never)).toEqual({ renewed: true })
    })
  })

  it.concurrent('the check of the server says that waiters poll', async () => {
    await Scene.play(async (scene) => {
      const { client } = await fronted(scene)
      const findings = await scene.store(client).probe(never)
      const found = 'the client has no subscription: waiters ask again and again'
      expect(findings).toContainEqual({ check: 'notifications', result: 'ok', found })
      expect(findings.filter(({ result }) => result === 'failed')).toEqual([])
    })
  })

  it.concurrent('a closed store ends what is under way', async () => {
    await Scene.play(async (scene) => {
      const { server, client } = await fronted(scene)
      const store = scene.store(client)
      await granted(store, 'held')
      server.freeze()
      const under = store.read('job', never)
      await store.close()
      await expect(under).rejects.toThrow('closed')
      await expect(store.read('job', never)).rejects.toThrow('closed')
    })
  })

  it.concurrent('an error shows neither the script nor the token', async () => {
    await Scene.play(async (scene) => {
      const { server, client } = await fronted(scene)
      const store = scene.store(client)
      await server.command('SET', 'leasehold:{job}', 'text')
      const other: unknown = await store.read('job', never).catch((reason: unknown) => reason)
      expect(other).toBeInstanceOf(LeaseConfigurationError)
      // An answer of the server to the whole request.
      await server.command('REPLICAOF', '127.0.0.1', 1)
      const replica: unknown = await store.read('free', never).catch((reason: unknown) => reason)
      expect(String(replica)).toContain('READONLY')
      for (const error of [other, replica]) {
        expect(inspect(error, { depth: null, showHidden: true })).not.toMatch(/command was|redis\.call|EVALSHA/)
      }
    })
  })
})
