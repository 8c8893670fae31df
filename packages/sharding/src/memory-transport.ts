import { type Clock, LeaseConfigurationError, systemClock } from '@leasehold/core'
import { checkOptionNames, type OptionNames, systemRandom } from '@leasehold/core/store-kit'
import { NotDeliveredError, OutcomeUnknownError } from './delivery-errors.js'
import type { Batch, Receipt } from './message.js'
import type { BatchHandler, Transport } from './transport.js'

export interface MemoryNetworkOptions {
  readonly clock?: Clock | undefined
  readonly random?: (() => number) | undefined
  /** The longest time that a batch or its receipts take, in milliseconds; 0 unless given. */
  readonly delay?: number | undefined
  /** How often a batch or its receipts are lost, from 0 to 1; 0 unless given. */
  readonly loss?: number | undefined
  /** How often a batch arrives a second time, later, from 0 to 1; 0 unless given. */
  readonly duplication?: number | undefined
}

const networkOptionNames: OptionNames<MemoryNetworkOptions> = {
  clock: true,
  random: true,
  delay: true,
  loss: true,
  duplication: true,
}

interface Station {
  readonly handlers: Map<string, BatchHandler>
  /** Runs what arrives: a paused process takes it later. */
  readonly receive: (task: () => void) => void
}

/** A network in memory, for tests: it delays, loses and repeats batches, and can be cut. */
export class MemoryNetwork {
  /** May be changed at any time. */
  delay: number
  loss: number
  duplication: number
  readonly #clock: Clock
  readonly #random: () => number
  readonly #stations = new Map<string, Station>()
  readonly #cuts = new Set<string>()

  constructor(options: MemoryNetworkOptions = {}) {
    checkOptionNames('MemoryNetwork', options, networkOptionNames)
    const { clock = systemClock, random = systemRandom, ...faults } = options
    this.#clock = clock
    this.#random = random
    this.delay = faults.delay ?? 0
    this.loss = faults.loss ?? 0
    this.duplication = faults.duplication ?? 0
  }

  /** Nothing passes between the two addresses, in both directions, until `mend`. */
  cut(one: string, other: string): void {
    this.#cuts.add(`${one}\n${other}`).add(`${other}\n${one}`)
  }

  /** Ends all cuts. */
  mend(): void {
    this.#cuts.clear()
  }

  /** The process has died: nobody listens at its address. */
  remove(address: string): void {
    this.#stations.delete(address)
  }

  /** @internal */
  add(address: string, region: string, handler: BatchHandler, receive: (task: () => void) => void): void {
    const station = this.#stations.get(address) ?? { handlers: new Map(), receive }
    if (station.handlers.has(region)) {
      throw new LeaseConfigurationError(
        `region '${region}' listens at ${address} already: give each process an address of its own`,
      )
    }
    station.handlers.set(region, handler)
    this.#stations.set(address, station)
  }

  /** @internal */
  leave(address: string, region: string): void {
    this.#stations.get(address)?.handlers.delete(region)
  }

  /** @internal Settles as `send` of a transport. */
  async carry(from: string, to: string, batch: Batch, signal: AbortSignal): Promise<readonly Receipt[]> {
    const text = JSON.stringify(batch)
    await this.#pass()
    const handler = this.#stations.get(to)?.handlers.get(batch.region)
    if (handler === undefined) throw new NotDeliveredError(`nobody listens at ${to}`)
    const isLost = this.#isCut(from, to) || this.#happens(this.loss)
    if (!isLost && this.#happens(this.duplication)) void this.#pass().then(() => this.#arrive(to, batch.region, text))
    const receipts = isLost ? undefined : await this.#arrive(to, batch.region, text)
    await this.#pass()
    if (receipts === undefined || this.#isCut(from, to) || this.#happens(this.loss)) return await untilGivenUp(signal)
    return receipts
  }

  async #arrive(to: string, region: string, text: string): Promise<readonly Receipt[] | undefined> {
    const station = this.#stations.get(to)
    if (station === undefined) return undefined
    await new Promise<void>((resolve) => station.receive(resolve))
    const receipts = await station.handlers.get(region)?.(JSON.parse(text))
    return receipts && JSON.parse(JSON.stringify(receipts))
  }

  #isCut(from: string, to: string): boolean {
    return this.#cuts.has(`${from}\n${to}`)
  }

  #happens(chance: number): boolean {
    return chance > 0 && this.#random() < chance
  }

  async #pass(): Promise<void> {
    const { delay } = this
    if (delay > 0) await new Promise<void>((resolve) => this.#clock.schedule(delay * this.#random(), resolve))
  }
}

/** The answer never comes: the sender gives up. */
function untilGivenUp(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(new OutcomeUnknownError('the batch was given up', { cause: signal.reason }))
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
}

export interface MemoryTransportOptions {
  readonly address: string
  /** The network that its processes share; one of its own unless given: then only this process can be reached. */
  readonly network?: MemoryNetwork | undefined
  /** Runs what arrives, such as the `receive` of a `VirtualClock`: a paused process takes it later. */
  readonly receive?: ((task: () => void) => void) | undefined
}

const transportOptionNames: OptionNames<MemoryTransportOptions> = { address: true, network: true, receive: true }

/** Carries messages within one process: for tests, and for a program that has only one process. */
export function memoryTransport(options: MemoryTransportOptions): Transport {
  checkOptionNames('memoryTransport', options, transportOptionNames)
  if (typeof options.address !== 'string' || options.address === '') {
    throw new LeaseConfigurationError("address must be a text, such as 'process-1'")
  }
  const { address, network = new MemoryNetwork(), receive = (task) => task() } = options
  return {
    address,
    listen: async (region, handler) => network.add(address, region, handler, receive),
    send: async (to, batch, signal) => {
      const receipts = await network.carry(address, to, batch, signal)
      await new Promise<void>((resolve) => receive(resolve))
      return receipts
    },
    close: async (region) => network.leave(address, region),
  }
}
