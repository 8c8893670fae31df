import { healthOf, LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { shardOf } from '../src/hash.js'
import { ShardRegion } from '../src/shard-region.js'
import { MemoryNetwork, memoryState, memoryTransport, type TestRegion, testRegion } from '../src/testing.js'
import { handling, ledger } from './support/ledger.js'

const add = (entry: string) => ({ type: 'add', entry }) as const
const entries = { type: 'entries' } as const
const heartbeats = { heartbeatInterval: 1_000, heartbeatTimeout: 5_000, operationTimeout: 500 }

describe('a region of several processes', () => {
  it('shares the shards, and reaches each entity from everywhere', async () => {
    const region = testRegion({ entity: ledger(), state: memoryState(), ...heartbeats })
    await region.start()
    expect(region.processes.map(({ region: { owned } }) => owned.length).sort()).toEqual([2, 3, 3])
    for (const [place, process] of region.processes.entries()) {
      for (let id = 0; id < 20; id += 1) {
        expect(await region.until(process.tell(`e${id}`, add(String(place))))).toBe('delivered')
      }
    }
    for (let id = 0; id < 20; id += 1) {
      expect(await region.until(region.process(id % 3).ask(`e${id}`, entries))).toEqual(['0', '1', '2'])
    }
    await region.stop()
  })

  it('stops although neither the transport nor the state can be closed, and reports both', async () => {
    const clock = new VirtualClock()
    const kept = memoryState()
    const transport = memoryTransport({ address: 'one', network: new MemoryNetwork({ clock, random: () => 0.5 }) })
    const region = new ShardRegion(new MemoryLeaseStore({ clock }), {
      name: 'ledgers',
      shards: 2,
      entity: ledger(),
      clock,
      random: () => 0.5,
      transport: {
        address: 'one',
        listen: (...asked) => transport.listen(...asked),
        send: (...asked) => transport.send(...asked),
        close: () => Promise.reject(new Error('the socket is gone')),
      },
      state: {
        load: (...asked) => kept.load(...asked),
        save: (...asked) => kept.save(...asked),
        close: () => Promise.reject(new Error('the disk is gone')),
      },
      ...heartbeats,
    })
    const errors: string[] = []
    region.on('error', (error) => errors.push(String(error)))
    await region.start()
    let isStopped = false
    void region.stop().then(() => {
      isStopped = true
    })
    // A listing of the store takes turns of the event loop, which virtual time would not wait for.
    expect(await clock.time.advanceUntil(() => isStopped, 60_000)).toBe(true)
    expect(errors).toEqual(['Error: the socket is gone', 'Error: the disk is gone'])
  })

  it('goes on when a process is killed, within the ttl, and loses nothing that was confirmed', async () => {
    const region = testRegion({ entity: ledger(), state: memoryState(), deliver: 'at-least-once', ...heartbeats })
    await region.start()
    const [one, two] = [region.process(0), region.process(1)]
    const all = Array.from({ length: 40 }, (_, id) => one.tell(`e${id}`, add('1')))
    await region.until(Promise.all(all))
    const more = Array.from({ length: 40 }, (_, id) => one.tell(`e${id}`, add('2')))
    two.kill()
    const before = region.time.now
    expect(new Set(await region.until(Promise.all(more)))).toEqual(new Set(['delivered']))
    expect(region.time.now - before).toBeLessThan(10_000)
    for (let id = 0; id < 40; id += 1) expect(await region.until(one.ask(`e${id}`, entries))).toEqual(['1', '2'])
    await region.stop()
  })

  it('moves shards to a process that joins, and takes all of those of one that stops, without a lost event', async () => {
    const region = testRegion({ entity: ledger(), state: memoryState(), processes: 2, ...heartbeats })
    await region.start()
    const one = region.process()
    const outcomes: Promise<string>[] = []
    let joined: Promise<unknown> | undefined
    for (let step = 0; step < 200; step += 1) {
      outcomes.push(one.tell(`e${step % 10}`, add(String(step))))
      if (step === 50) joined = region.join()
      if (step === 120) void region.process(1).region.stop()
      await region.advance(100)
    }
    await joined
    expect(new Set(await region.until(Promise.all(outcomes)))).toEqual(new Set(['delivered']))
    for (let id = 0; id < 10; id += 1) {
      const kept = await region.until(one.ask(`e${id}`, entries))
      expect(kept).toEqual(Array.from({ length: 20 }, (_, step) => String(10 * step + id)))
    }
    await region.until(one.region.stop())
    await region.stop()
  })

  it('never has an entity at work in two processes, also when one is stopped for longer than the ttl', async () => {
    const seen: string[] = []
    const region = testRegion({ entity: ledger((_, entry) => seen.push(entry)), state: memoryState(), ...heartbeats })
    await region.start()
    const id = idOwnedBy(region, 1)
    await region.until(region.process(1).tell(id, add('1')))
    region.process(1).pause()
    await region.advance(20_000)
    void region.process(1).tell(id, add('of the paused one'), { deliver: 'at-least-once' })
    expect(await region.until(region.process(0).tell(id, add('2'), { deliver: 'at-least-once' }))).toBe('delivered')
    region.process(1).resume()
    await region.advance(20_000)
    const kept = await region.until(region.process(0).ask<string[]>(id, entries))
    expect(kept).toEqual(['1', '2', 'of the paused one'])
    expect(seen).toEqual(kept)
    await region.stop()
  })

  it('restarts as a whole, and its entities go on from their snapshots', async () => {
    const state = memoryState()
    const first = testRegion({ entity: ledger(), state, ...heartbeats })
    await first.start()
    const told = Array.from({ length: 10 }, (_, id) => first.process().tell(`e${id}`, add('1')))
    await first.until(Promise.all(told))
    await first.stop()
    for (const { region } of first.processes) expect(region.owned).toEqual([])
    const joined = await Promise.all([first.join(), first.join()])
    await first.settle()
    for (let id = 0; id < 10; id += 1) {
      expect(await first.until((joined[id % 2] ?? first.process()).ask(`e${id}`, entries))).toEqual(['1'])
    }
    await first.stop()
    expect(first.clock.pending).toBe(0)
  })

  it('settles an event across a cut, and after it', async () => {
    const region = testRegion({ entity: ledger(), state: memoryState(), processes: 2, ...heartbeats })
    await region.start()
    const [one, two] = [region.process(0), region.process(1)]
    const id = idOwnedBy(region, 1)
    await region.until(one.tell(id, add('1')))
    region.cut(one, two)
    expect(await region.until(one.tell(id, add('lost')))).toBe('unknown')
    const repeated = one.tell(id, add('2'), { deliver: 'at-least-once' })
    await region.advance(3_000)
    region.mend()
    expect(await region.until(repeated)).toBe('delivered')
    expect(await region.until(two.ask(id, entries))).toEqual(['1', '2'])
    await region.stop()
  })

  it('has no second process with another number of shards', async () => {
    const region = testRegion({ entity: ledger(), processes: 2, ...heartbeats })
    await region.start()
    const other = await region.join({ shards: 4 })
    await region.advance(20_000)
    expect(other.region.owned).toEqual([])
    expect(other.errors).toEqual([expect.any(LeaseConfigurationError)])
    expect(String(other.errors[0])).toContain("region 'region' has 4 shards here, and 8 in another process")
    expect(healthOf(other.region).healthy).toBe(false)
    await region.settle()
    expect(region.processes.slice(0, 2).map(({ region: { owned } }) => owned.length)).toEqual([4, 4])
    await region.stop()
  })

  it('has processes that only send', async () => {
    const region = testRegion({ entity: ledger(), processes: 1, ...heartbeats })
    await region.start()
    const sender = await region.join({ host: false })
    expect(await region.until(sender.tell('a', add('1')))).toBe('delivered')
    expect(await region.until(sender.ask('a', entries))).toEqual(['1'])
    await region.advance(20_000)
    expect([sender.region.owned, region.process().region.owned.length]).toEqual([[], 8])
    expect(sender.errors).toEqual([])
    await region.stop()
  })

  it('is at work within the time of an ask, with default durations', async () => {
    const region = testRegion({ entity: ledger(), processes: 2 })
    for (const { region: one } of region.processes) void one.start()
    expect(await region.until(region.process(0).ask('a', entries))).toEqual([])
    expect(await region.until(region.process(1).ask('b', entries))).toEqual([])
    await region.stop()
  })

  it('reports the failure of an entity, and no more of it', async () => {
    const region = testRegion({
      entity: handling(() => {
        throw new Error('broken')
      }),
      processes: 1,
      ...heartbeats,
    })
    await region.start()
    await region.until(region.process().tell('a', { type: 'x' }))
    await region.advance(10)
    expect(region.process().errors).toEqual([new Error('broken')])
    await region.stop()
  })
})

/** An entity of a shard that the process owns. */
function idOwnedBy(region: TestRegion, place: number): string {
  const { owned } = region.process(place).region
  for (let id = 0; ; id += 1) if (owned.includes(shardOf(`e${id}`, 8))) return `e${id}`
}

describe('the options of a region', () => {
  const store = new MemoryLeaseStore()
  const good = { name: 'accounts', shards: 8, entity: ledger(), transport: memoryTransport({ address: 'one' }) }

  it.each([
    [{ shards: 0 }, 'shards must be a whole number of 1 or more, not 0'],
    [{ shards: undefined }, 'shards must be'],
    [{ entity: {} }, 'entity must be actor logic of XState'],
    [{ transport: 'http://x' }, 'transport must be a Transport'],
    [{ state: {} }, 'state must be an EntityState'],
    [{ version: '2' }, 'version must be a whole number'],
    [{ migrate: true }, 'migrate must be a function'],
    [{ passivateAfter: 0 }, 'passivateAfter must be a positive'],
    [{ capacity: 0 }, 'capacity must be'],
    [{ mailbox: 1.5 }, 'mailbox must be'],
    [{ holdFor: -1 }, 'holdFor must be'],
    [{ deliver: 'exactly-once' }, "deliver must be 'at-most-once' or 'at-least-once'"],
    [{ entitty: 1 }, "did you mean 'entity'?"],
    [{ strategy: 'manual' }, "strategy must not be 'manual'"],
  ])('are refused with %o, before anything is sent', (wrong, message) => {
    expect(() => new ShardRegion(store, { ...good, ...wrong } as never)).toThrow(message)
  })

  it.each([
    ['ask', 'timeot', 'timeout', (o: object) => new ShardRegion(store, good).ask('a', entries, o)],
    ['tell', 'delivr', 'deliver', async (o: object) => new ShardRegion(store, good).tell('a', add('1'), o)],
    ['testRegion', 'proceses', 'processes', async (o: object) => testRegion({ entity: ledger(), ...o })],
    ['memoryTransport', 'adress', 'address', async (o: object) => memoryTransport(o as never)],
    ['MemoryNetwork', 'los', 'loss', async (o: object) => new MemoryNetwork(o)],
  ] as const)('%s refuses %s, and suggests %s', async (of, option, meant, use) => {
    const message = `${of} has no option '${option}': did you mean '${meant}'?`
    await expect(use({ [option]: 1 })).rejects.toThrow(message)
  })

  it('start() rejects if the address is in use, and nothing is unhandled if nobody awaits it', async () => {
    const clock = new VirtualClock()
    const transport = memoryTransport({ address: 'one' })
    const first = new ShardRegion(store, { ...good, transport, clock, keepAlive: false })
    const second = new ShardRegion(store, { ...good, transport, clock, keepAlive: false })
    const errors: unknown[] = []
    second.on('error', (error) => errors.push(error))
    await first.start()
    await expect(second.start()).rejects.toThrow('listens at one already')
    void second.start()
    await clock.advance(0)
    expect(errors).toHaveLength(2)
    const stops = Promise.all([first.stop(), second.stop()])
    await clock.advance(10_000)
    await stops
    await expect(first.start()).rejects.toThrow('was stopped: make another one')
    expect(await first.tell('a', add('1'))).toBe('not-delivered')
  })
})
