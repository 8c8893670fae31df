import {
  LeaseConfigurationError,
  LeaseHeldError,
  LeaseUnavailableError,
  MemoryLeaseStore,
  readLease,
} from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'
import { type FastifyLeasesOptions, fastifyLeases, type Leases } from '../src/index.js'
import { createPlace, gate, listen, MINUTE, TTL, versions } from './support/servers.js'

describe.each(versions)('the plugin on Fastify %s', (_version, createServer) => {
  describe('the leases', () => {
    it('of two requests on one name exclude each other', async () => {
      const { start } = createPlace(createServer)
      const fastify = await start()
      const { opened, open } = gate()
      const entered = gate()
      fastify.post<{ Params: { id: string } }>('/accounts/:id', async ({ params }, reply) => {
        try {
          return await fastify.leases.run(`account/${params.id}`, async ({ fencingToken }) => {
            entered.open()
            await opened
            return { token: String(fencingToken) }
          })
        } catch (error) {
          if (error instanceof LeaseHeldError) return reply.code(409).send({ error: 'busy' })
          throw error
        }
      })
      const first = fastify.inject({ method: 'POST', url: '/accounts/42' })
      await entered.opened
      expect((await fastify.inject({ method: 'POST', url: '/accounts/42' })).statusCode).toBe(409)
      open()
      expect((await first).json()).toEqual({ token: expect.stringMatching(/^\d+$/) })
    })

    it('take the options of the plugin, and their own before these', async () => {
      const { start } = createPlace(createServer)
      const { leases } = await start({ owner: 'anna' })
      expect(leases.lease('a').settings).toMatchObject({ owner: 'anna', timeouts: { heartbeatTimeout: TTL } })
      expect(leases.lease('a', { owner: 'berta' }).settings.owner).toBe('berta')
    })

    it('take the options of the attempt in run', async () => {
      const { start, store } = createPlace(createServer)
      const { leases } = await start()
      await leases.run('a', async () => {}, { owner: 'anna', metadata: { by: 'test' } })
      expect(await readLease(store, 'a')).toMatchObject({ owner: 'anna', metadata: { by: 'test' } })
      await expect(leases.run('a', async () => {}, { wiat: 5 } as never)).rejects.toThrow(/did you mean 'wait'/)
    })
  })

  describe('the start', () => {
    it('of schedules and elections is when the server listens', async () => {
      const { start, clock, now } = createPlace(createServer)
      const fastify = await start()
      const ticks: Date[] = []
      fastify.leases.schedule('report', '* * * * *', ({ due }) => ticks.push(due), { now })
      fastify.leases.schedule('sweep', 30_000, () => {}, { now })
      const election = fastify.leases.election('writer')
      await fastify.ready()
      await clock.advance(2 * MINUTE)
      expect([ticks.length, election.isLeader]).toEqual([0, false])
      await listen(fastify)
      await clock.advance(2 * MINUTE)
      expect([ticks.length, election.isLeader]).toEqual([2, true])
      // Too late for the hook.
      const late = fastify.leases.election('late')
      await clock.advance(MINUTE)
      expect(late.isLeader).toBe(true)
    })

    it('is possible while the store is down, and the health route tells it', async () => {
      const { start, clock, place, lines, now } = createPlace(createServer)
      place.isDown = true
      const fastify = await start({ health: '/healthz' })
      const election = fastify.leases.election('writer')
      fastify.leases.schedule('report', '* * * * *', () => {}, { now })
      const address = await listen(fastify)
      const look = async () => {
        const response = await fetch(`${address}/healthz`)
        return { status: response.status, body: (await response.json()) as { readonly details: object } }
      }
      await clock.advance(2_000)
      expect(await look()).toMatchObject({ status: 200, body: { details: { unreachable: expect.any(String) } } })
      await clock.advance(MINUTE)
      expect(await look()).toMatchObject({
        status: 503,
        body: { healthy: false, reason: expect.stringMatching(/store cannot be reached/) },
      })
      expect(lines.some(({ plugin, level }) => plugin === 'leases' && level === 40)).toBe(true)
      place.isDown = false
      await clock.advance(2 * MINUTE)
      expect(election.isLeader).toBe(true)
      const healed = await look()
      expect(healed.status).toBe(200)
      expect(healed.body.details).not.toHaveProperty('unreachable')
    })
  })

  describe('the health route', () => {
    it('is off unless asked for', async () => {
      const fastify = await createPlace(createServer).start()
      expect((await fastify.inject('/healthz')).statusCode).toBe(404)
    })

    it('answers 200 on a follower, too', async () => {
      const { start, clock, store } = createPlace(createServer)
      const leader = new LeaderElection(store, { name: 'writer', owner: 'other', clock })
      leader.start()
      await clock.advance(1_000)
      const fastify = await start({ health: '/healthz', owner: 'me' })
      const election = fastify.leases.election('writer')
      await listen(fastify)
      await clock.advance(MINUTE)
      const response = await fastify.inject('/healthz')
      expect([leader.isLeader, election.isLeader, response.statusCode]).toEqual([true, false, 200])
      expect(response.json().details.recipes.writer.details).toEqual({ owner: 'me', isLeader: false })
      await leader.stop()
    })

    it('has the prefix of its scope, and that of register', async () => {
      const { bare, options } = createPlace(createServer)
      const fastify = bare()
      fastify.register(
        async (api) => {
          await api.register(fastifyLeases, { ...options, health: '/healthz', prefix: '/leases' })
        },
        { prefix: '/api' },
      )
      expect((await fastify.inject('/api/leases/healthz')).statusCode).toBe(200)
    })

    it('tells of a lease whose heartbeats fail', async () => {
      const { start, clock, place } = createPlace(createServer)
      const fastify = await start({ health: '/healthz' })
      const lease = fastify.leases.lease('held')
      await lease.acquire()
      expect((await fastify.inject('/healthz')).json()).toMatchObject({
        healthy: true,
        details: { held: 1, unhealthy: [] },
      })
      place.isDown = true
      await clock.advance(4_000)
      const response = await fastify.inject('/healthz')
      expect([response.statusCode, response.json().reason]).toEqual([
        503,
        expect.stringMatching(/heartbeats of lease 'held' fail/),
      ])
      place.isDown = false
      await clock.advance(4_000)
    })
  })

  describe('registering twice', () => {
    it('gives two stores two names', async () => {
      const { bare, options } = createPlace(createServer)
      const fastify = bare()
      const second = new MemoryLeaseStore()
      await fastify.register(fastifyLeases, options)
      await fastify.register(fastifyLeases, { store: second, name: 'jobLeases' })
      const { jobLeases } = fastify as unknown as { jobLeases: Leases }
      expect([fastify.leases.store, jobLeases.store]).toEqual([options.store, second])
    })

    it('with one name fails, also in a scope below', async () => {
      const { bare, options } = createPlace(createServer)
      const fastify = bare()
      await fastify.register(fastifyLeases, options)
      const twice = fastify.register(async (scope) => {
        await scope.register(fastifyLeases, options)
      })
      await expect(twice).rejects.toThrow(LeaseConfigurationError)
      await expect(fastify.ready()).rejects.toThrow(/fastify\.leases exists already/)
    })

    it('in two scopes side by side keeps them apart', async () => {
      const { bare, options } = createPlace(createServer)
      const fastify = bare()
      const stores: unknown[] = []
      for (const store of [options.store, new MemoryLeaseStore()]) {
        fastify.register(async (scope) => {
          await scope.register(fastifyLeases, { ...options, store })
          stores.push(scope.leases.store)
        })
      }
      await fastify.ready()
      expect(stores[0]).not.toBe(stores[1])
      expect(fastify.hasDecorator('leases')).toBe(false)
    })
  })

  describe('invalid input', () => {
    it.each<[string, Partial<FastifyLeasesOptions> | object, RegExp]>([
      ['no store', { store: undefined }, /store must be a lease store.*not undefined/],
      ['a client as store', { store: { get() {} } }, /store must be a lease store/],
      ['an unknown option', { heartbeatTimeot: 5 }, /did you mean 'heartbeatTimeout'/],
      ['a core logger', { logger: console }, /no option 'logger'/],
      ['a path without a slash', { health: 'healthz' }, /health must be a path that begins with '\/'/],
      ['health: true', { health: true }, /health must be a path/],
      ['an empty name', { name: '' }, /name must be a text/],
      ['the name of a part of Fastify', { name: 'log' }, /fastify\.log exists already/],
      ['a negative stopTimeout', { stopTimeout: -1 }, /stopTimeout must be 0 or more milliseconds/],
      ['a ttl that is too short', { heartbeatTimeout: 1_000 }, /heartbeatTimeout/],
      ['closeStore: 0', { closeStore: 0 }, /closeStore/],
    ])('%s: a typed error at register', async (_what, own, message) => {
      const { bare, options } = createPlace(createServer)
      const registered = bare().register(fastifyLeases, { ...options, ...own } as FastifyLeasesOptions)
      await expect(registered).rejects.toSatisfy(
        (error) => error instanceof LeaseConfigurationError && message.test(error.message),
      )
    })

    it('of schedules and elections: a typed error where they are made', async () => {
      const { leases } = await createPlace(createServer).start()
      expect(() => leases.schedule('report', 'every day', () => {})).toThrow(LeaseConfigurationError)
      expect(() => leases.schedule('report', '* * * * *', undefined as never)).toThrow(LeaseConfigurationError)
      expect(() => leases.schedule(undefined as never, '* * * * *', () => {})).toThrow(/name/)
      expect(() => leases.lease('a', { logger: console } as never)).toThrow(/use log, such as request\.log/)
      expect(() => leases.schedule('report', '* * * * *', () => {}, { maxHold: 5 } as never)).toThrow(
        /no option 'maxHold'/,
      )
      leases.schedule('report', '* * * * *', () => {})
      expect(() => leases.schedule('report', '* * * * *', () => {})).toThrow(
        /'report' is in use in this server already/,
      )
      expect(() => leases.election('report')).toThrow(LeaseConfigurationError)
    })
  })

  it('logs to the log of Fastify, with the cause, and to that of a request', async () => {
    const { start, lines } = createPlace(createServer)
    const fastify = await start()
    const failing = (): void => {
      throw new Error('a listener of mine')
    }
    const lease = fastify.leases.lease('a').on('acquired', failing)
    await lease.acquire()
    expect(lines.find(({ plugin }) => plugin === 'leases')).toMatchObject({ err: { message: 'a listener of mine' } })
    fastify.get('/b', async (request) => {
      await fastify.leases.lease('b', { log: request.log }).on('acquired', failing).acquire()
      return {}
    })
    await fastify.inject('/b')
    const line = lines.find(({ err, reqId }) => err !== undefined && reqId !== undefined)
    expect(line?.err?.message).toBe('a listener of mine')
  })

  it('takes no more leases when the server has closed', async () => {
    const fastify = await createPlace(createServer).start()
    await fastify.close()
    expect(() => fastify.leases.lease('a')).toThrow(LeaseUnavailableError)
    await expect(fastify.leases.run('a', async () => {})).rejects.toThrow(LeaseUnavailableError)
    expect(() => fastify.leases.schedule('s', '* * * * *', () => {})).toThrow(LeaseUnavailableError)
    expect(() => fastify.leases.election('e')).toThrow(LeaseUnavailableError)
  })
})
