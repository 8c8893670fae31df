import { type LeaseStore, type Logger, MemoryLeaseStore } from '@leasehold/core'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import type { AnyActorLogic, EventFromLogic } from 'xstate'
import type { EntityState } from './entity-state.js'
import { MemoryNetwork, memoryTransport } from './memory-transport.js'
import type { AskOptions, TellOptions, TellOutcome } from './region-core.js'
import { ShardRegion } from './shard-region.js'
import { type ShardRegionOptions, shardRegionOptionNames } from './shard-region-options.js'
import type { Transport } from './transport.js'

export interface TestRegionOptions<Logic extends AnyActorLogic = AnyActorLogic>
  extends Omit<ShardRegionOptions<Logic>, 'name' | 'owner' | 'shards' | 'transport' | 'clock' | 'random' | 'logger'> {
  readonly name?: string | undefined
  /** 8 unless given. */
  readonly shards?: number | undefined
  /** How many processes there are at the start; 3 unless given. */
  readonly processes?: number | undefined
  /** Another seed gives other random numbers; 1 unless given. */
  readonly seed?: number | undefined
  /** Gets warnings and errors; nothing unless given. */
  readonly logger?: Logger | undefined
}

const { owner: _, transport: __, clock: ___, ...regionOptionNames } = shardRegionOptionNames

const optionNames: OptionNames<TestRegionOptions> = { ...regionOptionNames, processes: true, seed: true }

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** How long `until` lets time pass, in milliseconds, unless it is given a time. */
const LONGEST = 600_000

/**
 * Several processes of a region in one, on virtual time: nothing sleeps, and each run is the same. Messages between them pass
 * a `MemoryNetwork`, leases are in a `MemoryLeaseStore`.
 */
export function testRegion<Logic extends AnyActorLogic>(options: TestRegionOptions<Logic>): TestRegion<Logic> {
  return new TestRegion(options)
}

export class TestRegion<Logic extends AnyActorLogic = AnyActorLogic> {
  /** A listing of leases takes turns of the event loop. */
  readonly time = new VirtualTime({ isBusy: () => this.listings > 0 })
  /** @internal How many listings are at work. */
  listings = 0
  /** The clock of the network and of the store. */
  readonly clock = new VirtualClock({ time: this.time })
  readonly store = new MemoryLeaseStore({ clock: this.clock })
  readonly network: MemoryNetwork
  readonly random: () => number
  readonly #options: TestRegionOptions<Logic>
  readonly #state: EntityState | undefined
  readonly #processes: TestProcess<Logic>[] = []

  constructor(options: TestRegionOptions<Logic>) {
    checkOptionNames<TestRegionOptions>('testRegion', options, optionNames)
    const { seed = 1, state, processes = 3, name = 'region' } = options
    this.random = randomFrom(seed)
    this.network = new MemoryNetwork({ clock: this.clock, random: this.random })
    this.#options = options
    this.#state = state?.forRegion?.(name) ?? state
    for (let number = 0; number < processes; number += 1) this.#add({})
  }

  get processes(): readonly TestProcess<Logic>[] {
    return this.#processes
  }

  /** The process at a place, the first one unless given. Throws if there is none. */
  process(place = 0): TestProcess<Logic> {
    const process = this.#processes[place]
    if (process === undefined) throw new RangeError(`there is no process ${place}`)
    return process
  }

  /** Starts all processes. Resolves when every shard has an owner. */
  async start(): Promise<void> {
    await this.until(Promise.all(this.#processes.map(({ region }) => region.start())))
    await this.settle()
  }

  /** Starts one more process, with other options if some are given. */
  async join(options: Partial<TestRegionOptions<Logic>> = {}): Promise<TestProcess<Logic>> {
    const process = this.#add(options)
    await this.until(process.region.start())
    return process
  }

  /** Lets time pass until each shard has exactly one owner among the processes that run. Rejects if that does not come. */
  async settle(longest = LONGEST): Promise<void> {
    const { shards = 8 } = this.#options
    const isSettled = (): boolean => {
      const owned = this.#processes.flatMap(({ isAlive, region }) => (isAlive ? region.owned : []))
      return owned.length === shards && new Set(owned).size === shards
    }
    if (!(await this.time.advanceUntil(isSettled, longest))) {
      throw new Error(`some shards have no owner, or more than one, after ${longest} ms of virtual time`)
    }
  }

  /** Lets `duration` milliseconds pass. */
  async advance(duration: number): Promise<void> {
    await this.time.advance(duration)
  }

  /** Lets time pass until the promise has settled, and settles as it does. Rejects if it has not by then. */
  async until<T>(promise: Promise<T>, longest = LONGEST): Promise<T> {
    let isSettled = false
    const onSettled = (): void => {
      isSettled = true
    }
    promise.then(onSettled, onSettled)
    if (await this.time.advanceUntil(() => isSettled, longest)) return await promise
    throw new Error(`the promise has not settled within ${longest} ms of virtual time`)
  }

  /** Nothing passes between two processes, until `mend`. */
  cut(one: TestProcess<Logic>, other: TestProcess<Logic>): void {
    this.network.cut(one.address, other.address)
  }

  /** Ends all cuts. */
  mend(): void {
    this.network.mend()
  }

  /** Stops all processes that run. */
  async stop(): Promise<void> {
    const running = this.#processes.filter(({ isAlive }) => isAlive)
    for (const process of running) process.resume()
    await this.until(Promise.all(running.map(({ region }) => region.stop())))
  }

  #add(options: Partial<TestRegionOptions<Logic>>): TestProcess<Logic> {
    const { processes: _, seed: __, ...given } = { ...this.#options, ...options }
    const address = `process-${this.#processes.length + 1}`
    const process = new TestProcess<Logic>(address, this, this.#state, given)
    this.#processes.push(process)
    return process
  }
}

/** One process of a `TestRegion`. */
export class TestProcess<Logic extends AnyActorLogic = AnyActorLogic> {
  readonly address: string
  readonly region: ShardRegion<Logic>
  /** The errors that the region has reported. */
  readonly errors: unknown[] = []
  readonly #clock: VirtualClock
  readonly #of: TestRegion<Logic>
  #isAlive = true

  constructor(
    address: string,
    of: TestRegion<Logic>,
    state: EntityState | undefined,
    options: Omit<TestRegionOptions<Logic>, 'processes' | 'seed'>,
  ) {
    this.address = address
    this.#clock = new VirtualClock({ time: of.time })
    this.#of = of
    const transport: Transport = memoryTransport({
      address,
      network: of.network,
      receive: (task) => this.#clock.receive(task),
    })
    this.region = new ShardRegion<Logic>(this.#gated(of.store), {
      ...options,
      name: options.name ?? 'region',
      owner: address,
      shards: options.shards ?? 8,
      transport,
      state: state && {
        load: (...given) => this.#passed(() => state.load(...given)),
        save: (...given) => this.#passed(() => state.save(...given)),
      },
      clock: this.#clock,
      random: of.random,
      logger: options.logger ?? silent,
    })
    this.region.on('error', (error) => this.errors.push(error))
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  tell(id: string, event: EventFromLogic<Logic>, options?: TellOptions): Promise<TellOutcome> {
    return this.region.tell(id, event, options)
  }

  ask<Answer = unknown>(id: string, event: EventFromLogic<Logic>, options?: AskOptions): Promise<Answer> {
    return this.region.ask<Answer>(id, event, options)
  }

  /** Ends the process at once: nothing of it runs any more, and its leases expire. */
  kill(): void {
    this.#isAlive = false
    this.#of.network.remove(this.address)
    this.#clock.clear()
    this.#clock.pause()
  }

  /** Stops the process, as SIGSTOP does: its timers, and what arrives, wait until `resume`. */
  pause(): void {
    this.#clock.pause()
  }

  resume(): void {
    if (this.#isAlive && !this.#clock.isRunning) this.#clock.resume()
  }

  /** The store as this process sees it: what it answers arrives when the process runs. */
  #gated(store: LeaseStore): LeaseStore {
    return new Proxy(store, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key, target)
        if (typeof member !== 'function') return member
        return (...given: unknown[]) => {
          const answer: unknown = member.apply(target, given)
          if (answer instanceof Promise) return this.#passed(() => answer)
          return isIterable(answer) ? this.#passedEach(answer, key === 'list') : answer
        }
      },
    })
  }

  async #passed<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } finally {
      await new Promise<void>((resolve) => this.#clock.receive(resolve))
    }
  }

  async *#passedEach(all: AsyncIterable<unknown>, isListing: boolean): AsyncIterable<unknown> {
    const each = all[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await this.#passed(() => (isListing ? this.#listed(each.next()) : each.next()))
        if (next.done) return
        yield next.value
      }
    } finally {
      await each.return?.()
    }
  }

  async #listed<T>(next: Promise<T>): Promise<T> {
    this.#of.listings += 1
    try {
      return await next
    } finally {
      this.#of.listings -= 1
    }
  }
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof Object(value)[Symbol.asyncIterator] === 'function'
}

/** A Lehmer generator: the same numbers in each run. */
function randomFrom(seed: number): () => number {
  let last = (Math.abs(Math.trunc(seed)) % 2_147_483_646) + 1
  return () => {
    last = (last * 48_271) % 2_147_483_647
    return last / 2_147_483_647
  }
}
