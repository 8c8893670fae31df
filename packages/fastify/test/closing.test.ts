import { get } from 'node:http'
import { LeaseLostError, type LeaseStore, MemoryLeaseStore, readLease } from '@leasehold/core'
import { PartitionGroup } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { fastifyLeases } from '../src/index.js'
import { createPlace, gate, listen, MINUTE, versions } from './support/servers.js'

/** Without keep-alive, as a load balancer that has taken the instance out. */
function request(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, timeout: 30_000 }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text) => {
        body += text
      })
      response.on('end', () => resolve(body))
    }).on('error', reject)
  })
}

/** The store, and its last operations in their order. */
function observed(store: LeaseStore, log: string[]): LeaseStore {
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...args: readonly { readonly name?: string }[]) => {
        if (property === 'release') log.push(`release ${args[0]?.name}`)
        if (property === 'close') log.push('close the store')
        return value.apply(target, args)
      }
    },
  })
}

describe.each(versions)('closing the server on Fastify %s', (_version, createServer) => {
  it.each([false, true])(
    'ends schedules, requests, elections, leases and the store in this order (in a scope: %s)',
    async (isScoped) => {
      const place = createPlace(createServer)
      const { clock, bare, options, now } = place
      const log: string[] = []
      const [{ opened, open }, entered, ticking] = [gate(), gate(), gate()]
      const fastify = bare()
      const set = async (scope: FastifyInstance): Promise<void> => {
        await scope.register(fastifyLeases, { ...options, store: observed(options.store, log) })
        const { leases } = scope
        const tick = ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
          ticking.open()
          return new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              log.push('the schedule is to end')
              resolve()
            })
          })
        }
        leases.schedule('report', '* * * * *', tick, { now })
        const election = leases.election('writer', {
          onElected: async ({ signal }) => {
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            log.push('the term is to end')
          },
        })
        const held = leases.lease('held')
        scope.get('/', async () => {
          await held.acquire()
          return await leases.run('account', async ({ checkLease, signal }) => {
            entered.open()
            await opened
            log.push(`the request ends: ${[checkLease(), signal.aborted, election.isLeader, held.checkLease()].join()}`)
            return {}
          })
        })
      }
      if (isScoped) await fastify.register(set)
      else await set(fastify)

      const answer = request(await listen(fastify))
      await entered.opened
      await clock.advance(MINUTE)
      await ticking.opened
      const closed = fastify.close()
      // The schedule ends while the request is in progress.
      await expect.poll(() => log).toContain('release report')
      await clock.advance(MINUTE)
      open()
      expect(await answer).toBe('{}')
      await closed
      expect(log).toEqual([
        'the schedule is to end',
        'release report',
        'the request ends: true,false,true,true',
        'release account',
        'the term is to end',
        'release writer',
        'release held',
        'close the store',
      ])
    },
  )

  it('waits for the work of run that no request waits for', async () => {
    const { start, clock, store } = createPlace(createServer)
    const fastify = await start({ closeStore: false })
    const [{ opened, open }, entered] = [gate(), gate()]
    const work = fastify.leases.run('background', async ({ checkLease }) => {
      entered.open()
      await opened
      return checkLease()
    })
    await entered.opened
    const closed = fastify.close()
    await clock.advance(5_000)
    open()
    expect(await work).toBe(true)
    await closed
    expect(await readLease(store, 'background')).toMatchObject({ state: 'available' })
  })

  it('gives up after stopTimeout, and says so', async () => {
    const { start, clock, lines } = createPlace(createServer)
    const fastify = await start({ stopTimeout: 3_000 })
    const entered = gate()
    const never = new Promise<void>(() => {})
    const work = fastify.leases.run('background', async () => {
      entered.open()
      await never
    })
    const lost = expect(work).rejects.toThrow(LeaseLostError)
    const election = fastify.leases.election('writer', { onElected: () => never })
    await listen(fastify)
    await entered.opened
    await clock.advance(1_000)
    expect(election.isLeader).toBe(true)
    const closed = fastify.close()
    let isClosed = false
    void closed.then(() => {
      isClosed = true
    })
    await expect
      .poll(async () => {
        await clock.advance(1_000)
        return isClosed
      })
      .toBe(true)
    await lost
    const warnings = lines.filter(({ level }) => level === 40).map(({ msg }) => msg)
    expect(warnings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^writer could not be ended: .*work of term \d+ has not ended within 3000 ms/),
        'work of run has not ended within 3000 ms: the server closes nevertheless',
      ]),
    )
  })

  it('ends an attempt that waits for a lease', async () => {
    const { start, clock, store } = createPlace(createServer)
    const other = await start({ closeStore: false, owner: 'other' })
    await other.leases.lease('a').acquire()
    const fastify = await start({ closeStore: false, stopTimeout: 1_000 })
    const waiting = fastify.leases.lease('a').acquire({ wait: Number.POSITIVE_INFINITY })
    await fastify.close()
    expect(await waiting).toBe(false)
    await clock.advance(MINUTE)
    expect(await readLease(store, 'a')).toMatchObject({ owner: 'other' })
  })

  it('hands the leadership over if asked to', async () => {
    const { start, clock } = createPlace(createServer)
    const [anna, berta] = [
      await start({ owner: 'anna', closeStore: false }),
      await start({ owner: 'berta', closeStore: false }),
    ]
    const election = anna.leases.election('writer', { transfer: 'best', rank: 1 })
    await listen(anna)
    await clock.advance(1_000)
    const next = berta.leases.election('writer', { rank: 1 })
    await listen(berta)
    await clock.advance(5_000)
    const { term } = election
    let isClosed = false
    void anna.close().then(() => {
      isClosed = true
    })
    await expect
      .poll(async () => {
        await clock.advance(100)
        return isClosed && next.isLeader
      })
      .toBe(true)
    expect(next.term).toBe((term ?? 0n) + 1n)
  })

  it('ends an election whose transfer is refused', async () => {
    const { start, clock, lines } = createPlace(createServer)
    const fastify = await start()
    const election = fastify.leases.election('writer', { transfer: '' })
    await listen(fastify)
    await clock.advance(1_000)
    await fastify.close()
    expect([election.isLeader, election.closed.aborted]).toEqual([false, true])
    expect(lines.some(({ msg }) => /transfer must be the owner/.test(msg))).toBe(true)
  })

  it('is not held up by a store that is down', async () => {
    const { start, clock, place } = createPlace(createServer)
    const fastify = await start({ stopTimeout: 2_000 })
    fastify.leases.election('writer')
    const lease = fastify.leases.lease('held')
    await lease.acquire()
    await listen(fastify)
    place.isDown = true
    await clock.advance(1_000)
    let isClosed = false
    void fastify.close().then(() => {
      isClosed = true
    })
    await expect
      .poll(async () => {
        await clock.advance(1_000)
        return isClosed
      })
      .toBe(true)
    expect(lease.checkLease()).toBe(false)
  })

  it('runs the hooks after it that were added before it, such as one that closes the client of the store', async () => {
    const { bare, options } = createPlace(createServer)
    const log: string[] = []
    const fastify = bare()
    fastify.addHook('onClose', async () => void log.push('close the client'))
    await fastify.register(fastifyLeases, { ...options, store: observed(options.store, log) })
    await fastify.close()
    expect(log).toEqual(['close the store', 'close the client'])
  })

  it('goes on if a recipe or the store cannot be ended', async () => {
    const { bare, options, lines } = createPlace(createServer)
    const log: string[] = []
    const store = observed(options.store, log)
    const fastify = bare()
    await fastify.register(fastifyLeases, { ...options, store })
    const fail = (): never => {
      throw new Error('mine')
    }
    fastify.leases.add('broken', { stop: fail, closed: new AbortController().signal })
    await fastify.close()
    expect(log).toEqual(['close the store'])
    expect(lines.map(({ msg }) => msg)).toContain('broken could not be ended: mine')
  })

  it('leaves a shared store open', async () => {
    const store = new MemoryLeaseStore()
    const fastify = await createPlace(createServer).start({ store, clock: undefined, closeStore: false })
    await fastify.close()
    expect(store.closed.aborted).toBe(false)
  })

  it('starts and ends a recipe that was added', async () => {
    const { start, clock } = createPlace(createServer)
    const fastify = await start({ health: '/healthz' })
    const { store } = fastify.leases
    const group = fastify.leases.add(
      'workers',
      new PartitionGroup(store, {
        name: 'workers',
        partitions: 2,
        clock,
        logger: silentLogger,
        onAssigned: async ({ signal }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
        },
      }),
    )
    await listen(fastify)
    await expect
      .poll(async () => {
        await clock.advance(1_000)
        return group.assigned.length
      })
      .toBe(2)
    expect((await fastify.inject('/healthz')).json().details.recipes).toHaveProperty('workers')
    await fastify.close()
    expect(group.closed.aborted).toBe(true)
  })
})
