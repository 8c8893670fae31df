import { LeaseConfigurationError, LeaseUnavailableError, MemoryLeaseStore, readLease } from '@leasehold/core'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { fromTransition } from 'xstate'
import { NotDeliveredError } from '../src/delivery-errors.js'
import type { EntityState } from '../src/entity-state.js'
import { memoryState } from '../src/memory-state.js'
import { MemoryNetwork, memoryTransport } from '../src/memory-transport.js'
import { Singleton, type SingletonOptions } from '../src/singleton.js'

const TTL = 10_000

type Event = { readonly type: string; readonly entry?: string; readonly reply?: (answer: unknown) => void }

/** Several processes with one singleton, in virtual time. Its actor keeps a list of the events that it got. */
function createFleet({ state }: { readonly state?: EntityState } = {}) {
  const time = new VirtualTime()
  const clock = new VirtualClock({ time })
  const store = new MemoryLeaseStore({ clock })
  const network = new MemoryNetwork({ clock, random: () => 0.5, delay: 2 })
  const errors: string[] = []
  /** What was handled, by which process. */
  const handled: { readonly process: string; readonly entry: string }[] = []
  const starts: string[] = []
  const singletons = new Map<string, Singleton>()
  const actorOf = (process: string) => ({
    ...fromTransition(
      (entries: readonly string[], { type, entry = '', reply }: Event) => {
        if (type === 'add') handled.push({ process, entry })
        if (type === 'fail') throw new Error('the actor fails')
        if (type === 'entries') reply?.(entries)
        return type === 'add' ? [...entries, entry] : entries
      },
      [] as readonly string[],
    ),
    start: () => void starts.push(process),
  })
  let seed = 1
  const numbers = (): number => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const options = (process: string): SingletonOptions => {
    const own = new VirtualClock({ time })
    clocks.set(process, own)
    return {
      name: 'registry',
      owner: process,
      actor: actorOf(process) as never,
      transport: memoryTransport({ address: process, network, receive: (task) => own.receive(task) }),
      heartbeatTimeout: TTL,
      heartbeatInterval: 1_000,
      operationTimeout: 2_000,
      stopTimeout: 5_000,
      clock: own,
      // Each process has numbers of its own.
      random: () => numbers(),
      ...(state === undefined ? {} : { state }),
    }
  }
  const create = (process: string, more: Partial<SingletonOptions> = {}): Singleton => {
    const singleton = new Singleton(store, { ...options(process), ...more })
    singleton.on('error', (error) => errors.push(`${process}: ${error}`))
    singletons.set(process, singleton)
    return singleton
  }
  const clocks = new Map<string, VirtualClock>()
  /** Settles in virtual time. */
  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    void promise.then(over, over)
    expect(await time.advanceUntil(() => isOver, 120_000)).toBe(true)
    return promise
  }
  const join = async (process: string, more: Partial<SingletonOptions> = {}): Promise<Singleton> => {
    const singleton = create(process, more)
    await settled(singleton.start())
    return singleton
  }
  const stop = async (...names: readonly string[]) => {
    for (const name of names) await settled(singletons.get(name)?.stop() ?? Promise.resolve())
  }
  return { time, clock, clocks, store, network, errors, handled, starts, options, create, join, settled, stop }
}

const add = (entry: string) => ({ type: 'add', entry })

describe('a singleton', () => {
  it('runs in one process, and takes events from all', async () => {
    const { time, join, settled, handled, stop } = createFleet()
    const one = await join('one')
    await time.advance(1_000)
    const two = await join('two')
    const sender = await join('sender', { host: false })
    expect(await settled(one.tell(add('1')))).toBe('delivered')
    expect(await settled(two.tell(add('2')))).toBe('delivered')
    expect(await settled(sender.tell(add('3')))).toBe('delivered')
    for (const singleton of [one, two, sender]) {
      expect(await settled(singleton.ask({ type: 'entries' }))).toEqual(['1', '2', '3'])
    }
    expect(new Set(handled.map(({ process }) => process))).toEqual(new Set(['one']))
    expect([one.isHere, two.isHere, sender.isHere]).toEqual([true, false, false])
    await stop('two', 'sender', 'one')
  })

  it('stops although its state cannot be closed, and reports it', async () => {
    const kept = memoryState()
    const state: EntityState = {
      load: (...asked) => kept.load(...asked),
      save: (...asked) => kept.save(...asked),
      close: () => Promise.reject(new Error('the disk is gone')),
    }
    const { join, stop, errors } = createFleet({ state })
    const one = await join('one')
    await stop('one')
    expect(errors).toEqual(['one: Error: the disk is gone'])
    expect(one.closed.aborted).toBe(true)
  })

  it('runs from the beginning of a term, without an event', async () => {
    const { time, join, starts, stop } = createFleet()
    await join('one')
    await time.advance(1_000)
    expect(starts).toEqual(['one'])
    await stop('one')
  })

  it('passes to the next process at once after a stop, with what it has saved', async () => {
    const { time, join, settled, stop, starts, handled } = createFleet({ state: memoryState() })
    const one = await join('one')
    await time.advance(1_000)
    const two = await join('two')
    await time.advance(3_000)
    for (const entry of ['1', '2', '3']) void two.tell(add(entry))
    const before = time.now
    const stopped = settled(one.stop())
    await stopped
    expect(await settled(two.ask({ type: 'entries' }))).toEqual(['1', '2', '3'])
    expect(time.now - before).toBeLessThan(1_000)
    expect(two.isHere).toBe(true)
    expect(starts.at(-1)).not.toBe(undefined)
    expect(handled.map(({ entry }) => entry)).toEqual(['1', '2', '3'])
    await stop('two')
  })

  it('is taken over when the ttl is over, if its process dies; messages wait for it, in order', async () => {
    const { time, clocks, network, join, settled, stop, handled } = createFleet({ state: memoryState() })
    await join('one')
    await time.advance(1_000)
    const two = await join('two')
    const three = await join('three', { host: false })
    expect(await settled(three.tell(add('0')))).toBe('delivered')
    await time.advance(2_000)
    clocks.get('one')?.pause()
    network.remove('one')
    const before = time.now
    const told = ['1', '2', '3'].map((entry) => three.tell(add(entry), { deliver: 'at-least-once' }))
    expect(await settled(Promise.all(told))).toEqual(['delivered', 'delivered', 'delivered'])
    expect(time.now - before).toBeGreaterThan(TTL - 2_500)
    expect(time.now - before).toBeLessThan(TTL + 3_000)
    expect(two.isHere).toBe(true)
    expect(handled).toEqual([
      { process: 'one', entry: '0' },
      { process: 'two', entry: '1' },
      { process: 'two', entry: '2' },
      { process: 'two', entry: '3' },
    ])
    expect(await settled(three.ask({ type: 'entries' }))).toEqual(['0', '1', '2', '3'])
    await stop('three', 'two')
  })

  it('never handles an event in a process that was paused beyond its ttl', async () => {
    const { time, clocks, join, settled, stop, handled } = createFleet({ state: memoryState() })
    const one = await join('one')
    await time.advance(1_000)
    const two = await join('two')
    await time.advance(2_000)
    clocks.get('one')?.pause()
    await time.advance(TTL + 5_000)
    expect(two.isHere).toBe(true)
    expect(await settled(two.tell(add('1')))).toBe('delivered')
    // Before any timer of it has run.
    void one.tell(add('2'))
    expect(one.isHere).toBe(false)
    clocks.get('one')?.resume()
    expect(await settled(two.ask({ type: 'entries' }))).toContain('1')
    await time.advance(5_000)
    expect(handled.filter(({ process }) => process === 'one')).toEqual([])
    expect(await settled(one.ask({ type: 'entries' }))).toEqual(['1', '2'])
    await stop('one', 'two')
  })

  it('keeps the way to the actor without a look at the store for each event', async () => {
    const { time, store, network, join, settled, stop } = createFleet()
    const one = await join('one')
    await time.advance(1_000)
    const transport = memoryTransport({ address: 'sender', network })
    const addresses: string[] = []
    const sender = await join('sender', {
      host: false,
      transport: {
        ...transport,
        send: (address, ...given) => {
          addresses.push(address)
          return transport.send(address, ...given)
        },
      },
    })
    expect(await settled(sender.tell(add('first')))).toBe('delivered')
    await settled(one.stop())
    const two = await join('two')
    // The sender sees the change without an event.
    await time.advance(5_000)
    const before = addresses.length
    let reads = 0
    const { read } = store
    store.read = (...given) => {
      reads += 1
      return read.apply(store, given)
    }
    for (let sent = 0; sent < 200; sent += 1) void sender.tell(add(String(sent)))
    expect(await settled(sender.ask<readonly string[]>({ type: 'entries' }))).toHaveLength(200)
    expect(new Set(addresses.slice(before))).toEqual(new Set(['two']))
    expect(two.isHere).toBe(true)
    expect(reads).toBeLessThan(3)
    await stop('sender', 'two')
  })

  it('gives events back that nobody can take', async () => {
    const { create, join, settled, stop } = createFleet()
    const idle = create('idle')
    const early = idle.tell(add('early'))
    const sender = await join('sender', { host: false, holdFor: 2_000 })
    expect(await settled(sender.tell(add('1')))).toBe('not-delivered')
    await expect(settled(sender.ask({ type: 'entries' }, { timeout: 1_000 }))).rejects.toThrow(NotDeliveredError)
    await stop('idle', 'sender')
    expect(await settled(early)).toBe('not-delivered')
    expect(await sender.tell(add('2'))).toBe('not-delivered')
    await expect(sender.start()).rejects.toThrow(LeaseUnavailableError)
  })

  it('starts again by itself after it has failed, from what was saved', async () => {
    const { time, join, settled, stop, errors, starts } = createFleet({ state: memoryState() })
    const one = await join('one')
    expect(await settled(one.tell(add('1'), { deliver: 'at-least-once' }))).toBe('delivered')
    const before = starts.length
    void one.tell({ type: 'fail' })
    await time.advance(3_000)
    expect(starts.length).toBeGreaterThan(before)
    expect(errors).toEqual(['one: Error: the actor fails'])
    expect(await settled(one.ask({ type: 'entries' }))).toEqual(['1'])
    await stop('one')
  })

  it('is loaded again by itself when the state has failed for longer', async () => {
    const memory = memoryState()
    let isDown = true
    const state: EntityState = {
      load: async (...given) => {
        if (isDown) throw new Error('down')
        return await memory.load(...given)
      },
      save: (...given) => memory.save(...given),
    }
    const { time, join, stop, starts } = createFleet({ state })
    await join('one')
    await time.advance(8_000)
    expect(starts).toEqual([])
    isDown = false
    await time.advance(4_000)
    expect(starts).toEqual(['one'])
    await stop('one')
  })

  it('ends an actor that does not end in time, reports it, and releases the lease', async () => {
    const memory = memoryState()
    const state: EntityState = { load: (...given) => memory.load(...given), save: () => new Promise(() => {}) }
    const { time, store, join, settled, errors, clock } = createFleet({ state })
    const one = await join('one')
    await time.advance(1_000)
    void one.tell(add('1'))
    const before = time.now
    await settled(one.stop({ timeout: 100 }))
    expect(time.now - before).toBeLessThan(3_000)
    expect(errors).toEqual([expect.stringContaining('the work of term 1 has not ended within')])
    const record = await settled(readLease(store, 'registry', { clock }))
    expect(record?.state).toBe('available')
  })

  it('keeps no timer after a stop', async () => {
    const { time, clocks, join, stop } = createFleet()
    for (const name of ['one', 'two', 'three']) await join(name)
    await time.advance(5_000)
    await stop('one', 'two', 'three')
    await time.advance(TTL)
    for (const clock of clocks.values()) expect(clock.pending).toBe(0)
  })

  it('can be started again if its address could not be used', async () => {
    const { join, create, settled, stop } = createFleet()
    let isUsed = true
    const transport = memoryTransport({ address: 'late' })
    const late = create('late', {
      transport: {
        ...transport,
        listen: async (...given) => {
          if (isUsed) throw new Error('EADDRINUSE')
          await transport.listen(...given)
        },
      },
    })
    await expect(late.start()).rejects.toThrow('EADDRINUSE')
    isUsed = false
    await settled(late.start())
    expect(await settled(late.tell(add('1')))).toBe('delivered')
    await stop('late')
    void join
  })

  it('rejects options that are unknown or invalid', () => {
    const { create } = createFleet()
    for (const [more, message] of [
      [{ entity: 1 }, /Singleton has no option 'entity'/],
      [{ actor: undefined }, /actor must be actor logic of XState, such as a state machine, not undefined/],
      [{ transport: {} }, /transport must be a Transport, such as httpTransport/],
      [{ state: {} }, /state must be an EntityState, such as postgresState/],
      [{ host: 'yes' }, /host must be/],
      [{ deliver: 'once' }, /deliver must be 'at-most-once' or 'at-least-once', not once/],
      [{ capacity: 0 }, /capacity must be a whole number of 1 or more, not 0/],
      [{ holdFor: -1 }, /holdFor must be/],
      [{ entities: 1 }, /Singleton has no option 'entities'/],
      [{ migrate: 1 }, /migrate must be a function/],
      [{ heartbeatInterval: 9_000 }, /heartbeat/],
      [{ stopTimeout: -1 }, /stopTimeout must be/],
    ] as const) {
      expect(() => create('x', more as never), String(message)).toThrow(message)
      expect(() => create('x', more as never)).toThrow(LeaseConfigurationError)
    }
  })

  it('names what a store lacks', () => {
    const { options } = createFleet()
    expect(() => new Singleton(undefined as never, options('x'))).toThrow(LeaseConfigurationError)
    expect(() => new Singleton({} as never, options('x'))).toThrow(LeaseConfigurationError)
  })

  it('rejects an event that JSON cannot hold, before anything is sent', async () => {
    const { join, stop } = createFleet()
    const one = await join('one')
    expect(() => one.tell({ type: 'x', big: 1n } as never)).toThrow(LeaseConfigurationError)
    expect(() => one.tell('x' as never)).toThrow(LeaseConfigurationError)
    await stop('one')
  })
})
