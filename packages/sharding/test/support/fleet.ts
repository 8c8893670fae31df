import { LeaseLostError } from '@leasehold/core'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import type { AnyActorLogic } from 'xstate'
import { Dispatcher } from '../../src/dispatcher.js'
import type { EntityState } from '../../src/entity-state.js'
import { MemoryNetwork, memoryTransport } from '../../src/memory-transport.js'
import type { Json } from '../../src/message.js'
import { RegionCore } from '../../src/region-core.js'
import type { ShardDirectory } from '../../src/shard-directory.js'
import type { HeldShard } from '../../src/shard-host.js'

export interface FleetOptions {
  readonly entity: AnyActorLogic
  readonly state?: EntityState | undefined
  readonly shards?: number
  readonly capacity?: number
  readonly mailbox?: number
  readonly holdFor?: number
  readonly passivateAfter?: number
  readonly version?: number
  readonly migrate?: (snapshot: Json, version: number) => Json
}

/** A directory that a test writes. */
class TestDirectory implements ShardDirectory {
  readonly addresses = new Map<number, string>()
  refreshes = 0
  readonly #listeners = new Set<() => void>()

  addressOf(shard: number): string | undefined {
    return this.addresses.get(shard)
  }

  learn(shard: number, address: string | undefined): void {
    if (address === undefined) this.addresses.delete(shard)
    else this.addresses.set(shard, address)
  }

  refresh(): void {
    this.refreshes += 1
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A newer record of the store. */
  show(shard: number, address: string | undefined): void {
    this.learn(shard, address)
    for (const listener of this.#listeners) listener()
  }
}

interface Hold {
  readonly controller: AbortController
  isHeld: boolean
  readonly ended: Promise<void>
}

/** One process of a fleet. Its shards are granted by the test. */
export class FleetProcess {
  readonly address: string
  readonly directory = new TestDirectory()
  readonly core: RegionCore
  readonly errors: unknown[] = []
  readonly dropped: string[] = []
  readonly holds = new Map<number, Hold>()
  readonly #fleet: Fleet

  constructor(fleet: Fleet, address: string, options: FleetOptions) {
    this.#fleet = fleet
    this.address = address
    const { clock } = fleet
    this.core = new RegionCore({
      name: 'accounts',
      owner: address,
      shards: options.shards ?? fleet.shards,
      transport: memoryTransport({ address, network: fleet.network }),
      directory: this.directory,
      clock,
      random: fleet.random,
      deliver: 'at-most-once',
      capacity: options.capacity ?? 10_000,
      holdFor: options.holdFor ?? 30_000,
      sendTimeout: 1_000,
      drainTimeout: 5_000,
      passivateAfter: options.passivateAfter ?? Number.POSITIVE_INFINITY,
      entities: {
        logic: options.entity,
        dispatcher: new Dispatcher(clock),
        state: options.state,
        version: options.version ?? 1,
        migrate: options.migrate,
        mailbox: options.mailbox ?? 1_000,
        stateTimeout: 2_000,
        report: (error) => this.errors.push(error),
      },
      onDropped: (count, reason) => this.dropped.push(`${count}: ${reason}`),
      onOutage: () => {},
    })
  }

  /** The process gets the lease of a shard, and knows it. */
  grant(shard: number): void {
    const controller = new AbortController()
    const token = this.#fleet.nextToken()
    const held: HeldShard = {
      shard,
      signal: controller.signal,
      fencingToken: token,
      checkLease: () => hold.isHeld,
    }
    const hold: Hold = { controller, isHeld: true, ended: Promise.resolve() }
    this.holds.set(shard, hold)
    const ended = this.core.own(held).catch((error) => {
      this.errors.push(error)
      hold.isHeld = false
    })
    Object.assign(hold, { ended })
  }

  /** Hands a shard over: the lease is released when the entities are drained. */
  async drain(shard: number): Promise<void> {
    const hold = this.holds.get(shard)
    hold?.controller.abort(new LeaseLostError('handed over', { reason: 'released' }))
    await hold?.ended
    if (hold) hold.isHeld = false
  }

  /** The lease of a shard is lost, and the process learns of it. */
  lose(shard: number): void {
    this.expire(shard)
    this.holds.get(shard)?.controller.abort(new LeaseLostError('lost', { reason: 'expired' }))
  }

  /** The lease of a shard is lost, and no signal says so yet. */
  expire(shard: number): void {
    const hold = this.holds.get(shard)
    if (hold) hold.isHeld = false
  }
}

/** Several processes of one region, without a store of leases: the test grants the shards. */
export class Fleet {
  readonly time = new VirtualTime()
  readonly clock = new VirtualClock({ time: this.time })
  readonly network: MemoryNetwork
  readonly shards: number
  readonly processes: FleetProcess[] = []
  readonly random: () => number
  readonly #options: FleetOptions
  #token = 0n

  constructor(options: FleetOptions) {
    this.#options = options
    this.shards = options.shards ?? 1
    let seed = 1
    // A Lehmer generator: the same numbers in each run.
    this.random = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    this.network = new MemoryNetwork({ clock: this.clock, random: this.random })
  }

  async join(address: string, options: Partial<FleetOptions> = {}): Promise<FleetProcess> {
    const process = new FleetProcess(this, address, { ...this.#options, ...options })
    await process.core.listen()
    this.processes.push(process)
    return process
  }

  nextToken(): bigint {
    this.#token += 1n
    return this.#token
  }

  /** All processes see where a shard is. */
  show(shard: number, address: string | undefined): void {
    for (const { directory } of this.processes) directory.show(shard, address)
  }

  async advance(duration: number): Promise<void> {
    await this.time.advance(duration)
  }

  /** Settles as the promise does; time passes until then. */
  async until<T>(promise: Promise<T>, longest = 60_000): Promise<T> {
    let isSettled = false
    const settled = (): void => {
      isSettled = true
    }
    promise.then(settled, settled)
    if (await this.time.advanceUntil(() => isSettled, longest)) return await promise
    throw new Error(`not settled within ${longest} ms`)
  }
}
