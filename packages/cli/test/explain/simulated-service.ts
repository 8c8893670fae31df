import {
  createLease,
  type LeaseStore,
  LeaseUnauthorisedError,
  MemoryLeaseStore,
  type StoreLease,
} from '@leasehold/core'
import { FlightRecorder } from '@leasehold/recorder/internal'
import { silentLogger } from '@leasehold/testing'
import { VirtualClock, type VirtualTime } from '@leasehold/testkit'
import type { Random } from '../../../testkit/src/random.js'

/** The state of the way between one process and the store. */
export type Line = 'open' | 'hanging' | 'resetting' | 'unauthorised'

/** The store of a simulation: a memory store on the clock of a server, which can be set. */
export class SimulatedServer {
  readonly store: MemoryLeaseStore
  /** By how much the clock of the server was set forward, in milliseconds. */
  ahead = 0
  isDown = false
  /** The longest time that the server takes to answer, in milliseconds, at a given moment. */
  latency: () => number
  /** Whether a claim by the owner of the holder takes its place, as in stores that know owners only. */
  knowsOwnersOnly = false

  constructor(time: VirtualTime, random: Random) {
    const clock = new VirtualClock({ time })
    this.store = new MemoryLeaseStore({
      clock: {
        now: () => clock.now() + this.ahead,
        wall: () => clock.wall() + this.ahead,
        schedule: (delay, task) => clock.schedule(delay, task),
      },
    })
    this.latency = () => 1 + random.next() * 8
  }

  async carryOut(operation: Operation, args: readonly unknown[]): Promise<unknown> {
    if (operation === 'acquire' && this.knowsOwnersOnly) {
      const { name, owner, grantId } = args[0] as Claim
      const record = await this.store.read(name)
      // The holder, as such a store sees it.
      if (record?.owner === owner && record.grantId !== grantId && record.state === 'leased') {
        return await this.store.change({ ...record, ttl: record.ttl ?? 1 }, { grantId, owner })
      }
    }
    return await (this.store[operation] as (...args: readonly unknown[]) => Promise<unknown>)(...args)
  }
}

interface Claim {
  readonly name: string
  readonly owner: string
  readonly grantId: string
}

const operations = ['acquire', 'renew', 'release', 'read', 'break'] as const
type Operation = (typeof operations)[number]

export interface ProcessOptions {
  readonly number: number
  readonly owner: string
  readonly ttl: number
  readonly time: VirtualTime
  readonly server: SimulatedServer
  readonly random: Random
  /** Whether answers that come after a call was given up are seen. */
  readonly seesLateAnswers: boolean
}

/** One process: a clock of its own, a recorder, and a lease that it always wants. */
export class SimulatedService {
  readonly id: string
  readonly owner: string
  readonly clock: VirtualClock
  readonly lease: StoreLease
  readonly recorder: FlightRecorder
  readonly files: string[] = []
  line: Line = 'open'
  isDead = false
  readonly #options: ProcessOptions
  #cpu = 0
  #onCollection: (duration: number) => void = () => {}

  constructor(options: ProcessOptions) {
    const { number, owner, ttl, time, random } = options
    this.#options = options
    this.id = `process-${number}`
    this.owner = owner
    this.clock = new VirtualClock({ time, skew: (random.next() - 0.5) * 6_000, drift: (random.next() - 0.5) / 5_000 })
    this.recorder = new FlightRecorder(
      { folder: 'memory' },
      {
        process: {
          cpu: () => this.#cpu,
          onCollection: (listener) => {
            this.#onCollection = listener
            return () => {}
          },
        },
        identity: { id: this.id, pid: 100 + number, host: `host-${number}`, node: 'v20' },
        write: (text) => {
          if (!this.isDead) this.files.push(text)
          return 'memory'
        },
      },
    )
    this.lease = createLease(this.#storeOf(), 'job', {
      ...{ owner, heartbeatTimeout: ttl, clock: this.clock, random: () => random.next() },
      ...{ logger: silentLogger, recorder: this.recorder },
    })
  }

  /** Wants the lease, for ever. */
  work(options: Parameters<StoreLease['acquire']>[0] = {}): void {
    const again = (): void => {
      if (!this.isDead) this.clock.schedule(200, () => this.work())
    }
    this.lease.acquire({ wait: Number.POSITIVE_INFINITY, ...options, onLost: again }).catch(again)
  }

  /** Nothing of the process runs for a while. `cpu`: how much of the time it uses the processor. */
  block(duration: number, cpu: number, collected = 0, how: 'stopped' | 'suspended' = 'stopped'): void {
    if (!this.clock.isRunning) {
      this.#options.time.schedule(10, () => this.block(duration, cpu, collected, how))
      return
    }
    this.clock.pause(how)
    this.#options.time.schedule(duration, () => {
      if (this.isDead) return
      this.#cpu += duration * cpu
      this.clock.resume()
      if (collected > 0) this.clock.schedule(1, () => this.#onCollection(duration * collected))
    })
  }

  crash(exitCode?: number): void {
    if (exitCode !== undefined) this.recorder.onExit(exitCode)
    this.isDead = true
    this.clock.clear()
  }

  #storeOf(): LeaseStore {
    const { server } = this.#options
    const methods = operations.map((operation) => [
      operation,
      (...args: readonly unknown[]) => this.#ask(operation, args),
    ])
    return { kind: 'simulated', limits: server.store.limits, close: async () => {}, ...Object.fromEntries(methods) }
  }

  /** Asks the server over the line: the answer arrives when this process runs. */
  #ask(operation: Operation, args: readonly unknown[]): Promise<unknown> {
    const { server, time, random, seesLateAnswers } = this.#options
    const call = args.at(-1) as { readonly aborted: boolean; onAbort(listener: () => void): () => void }
    return new Promise((resolve, reject) => {
      const later = (delay: number, task: () => void): void => {
        time.schedule(delay, () => !this.isDead && this.clock.receive(task))
      }
      const fail = (message: string): void => later(2, () => reject(new Error(message)))
      call.onAbort(() => !seesLateAnswers && reject(new Error('aborted')))
      if (this.line === 'hanging') return
      if (this.line === 'resetting') return fail('read ECONNRESET')
      if (this.line === 'unauthorised') {
        later(3, () => reject(new LeaseUnauthorisedError('WRONGPASS invalid username-password pair')))
        return
      }
      if (server.isDown) {
        if (random.next() < 0.5) fail('connect ECONNREFUSED 10.0.0.1:6379')
        return
      }
      const latency = server.latency()
      time.schedule(latency / 2, () => {
        if (server.isDown) return
        server.carryOut(operation, args.slice(0, -1)).then(
          (answer) => later(latency / 2, () => this.line !== 'hanging' && resolve(answer)),
          (error) => later(latency / 2, () => reject(error)),
        )
      })
    })
  }
}
