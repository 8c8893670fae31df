import { readRecording } from '@leasehold/recorder/internal'
import { VirtualTime } from '@leasehold/testkit'
import { Random } from '../../../testkit/src/random.js'
import type { Cause } from '../../src/explain/causes.js'
import { type Explanation, explain, type Verdict } from '../../src/explain/explanation.js'
import { SimulatedServer, SimulatedService } from './simulated-service.js'

/** The kinds of faults, and the causes that are right for each. */
export const kinds = {
  'busy loop': ['busy-loop'],
  collection: ['collection'],
  SIGSTOP: ['stopped', 'suspended'],
  cut: ['cut'],
  'slow store': ['slow-store'],
  'clock step': ['store-clock-step'],
  'deleted key': ['record-gone'],
  break: ['break'],
  'fail-over': ['store-failover'],
  credentials: ['credentials'],
  crash: ['crash'],
  'one owner': ['shared-owner'],
} as const satisfies Record<string, readonly Cause[]>

export type FaultKind = keyof typeof kinds

export interface FaultRun {
  readonly seed: number
  readonly kind: FaultKind
  readonly explanation: Explanation
  /** What the first file that was written at a loss says alone; empty if there is none, as after a crash. */
  readonly alone: readonly Verdict[]
  readonly files: readonly string[]
  /** The ids of the processes that have the fault. */
  readonly faulty: readonly string[]
  /** Whether each loss has a right cause, and there is one. */
  readonly isRight: boolean
  /** The ids of processes without a fault that were named as the cause. */
  readonly blamed: readonly string[]
}

/** One run: three processes want a lease, one fault ends a grant, and smaller disturbances happen beside it. */
export async function runFault(seed: number): Promise<FaultRun> {
  const names = Object.keys(kinds) as FaultKind[]
  const kind = names[seed % names.length] as FaultKind
  const world = new World(seed)
  await world.settleIn()
  const faulty = await world.inject(kind)
  await world.comeToRest()
  const files = world.files()
  const recordings = files.map((text, place) => readRecording(text, `${place}.rec`))
  const explanation = explain(recordings)
  const firstLoss = recordings.filter(({ header }) => header.reason === 'lost').slice(0, 1)
  const alone = explain(firstLoss).verdicts
  const causes: readonly Cause[] = kinds[kind]
  const { verdicts } = explanation
  const isRight = verdicts.length > 0 && verdicts.every(({ finding }) => causes.includes(finding.cause))
  const blamed = verdicts.flatMap(({ finding }) =>
    finding.process === undefined || faulty.includes(finding.process) ? [] : [finding.process],
  )
  return { seed, kind, explanation, alone, files, faulty, isRight, blamed }
}

class World {
  readonly #time = new VirtualTime()
  readonly #random: Random
  readonly #server: SimulatedServer
  readonly #services: SimulatedService[] = []
  readonly #ttl: number

  constructor(seed: number) {
    this.#random = new Random(seed)
    this.#server = new SimulatedServer(this.#time, this.#random)
    this.#ttl = this.#between(8_000, 30_000)
    for (let number = 0; number < 3; number += 1) this.#start(`worker-${number}`)
  }

  #between(least: number, most: number): number {
    return Math.round(least + this.#random.next() * (most - least))
  }

  #start(owner: string): SimulatedService {
    const [time, server, random, ttl] = [this.#time, this.#server, this.#random, this.#ttl]
    const seesLateAnswers = random.next() < 0.5
    const number = this.#services.length
    const service = new SimulatedService({ number, owner, ttl, time, server, random, seesLateAnswers })
    this.#services.push(service)
    return service
  }

  async settleIn(): Promise<void> {
    for (const service of this.#services) {
      service.work()
      await this.#time.advance(this.#between(10, 500))
    }
    this.#disturb()
    await this.#time.advance(this.#between(this.#ttl, 3 * this.#ttl))
  }

  /** Disturbances that cost nobody a lease: they must not be taken for the cause. */
  #disturb(): void {
    for (const service of this.#services) {
      for (let count = 0; count < 3; count += 1) {
        this.#time.schedule(this.#between(0, 5 * this.#ttl), () => {
          const what = this.#random.next()
          if (what < 0.3) service.block(this.#between(60, 400), 0.9)
          else if (what < 0.5) service.block(this.#between(60, 300), 0.9, 0.9)
          else if (what < 0.6) service.block(this.#between(60, 300), 0.02)
          else if (what < 0.75) service.clock.stepWall(this.#between(-5_000, 5_000))
          else if (service.line === 'open') void this.#cut(service, 'resetting', this.#between(20, 300))
        })
      }
    }
  }

  get #holder(): SimulatedService {
    const holder = this.#services.find(({ lease }) => lease.checkLease())
    if (holder === undefined) throw new Error('nobody holds the lease')
    return holder
  }

  /** Injects the fault, and returns the ids of the processes that have it. */
  async inject(kind: FaultKind): Promise<readonly string[]> {
    const holder = this.#holder
    const ttl = this.#ttl
    const long = this.#between(1.2 * ttl, 2 * ttl)
    // A process without the lease may do anything at that time.
    const bystander = this.#services.find((service) => service !== holder)
    if (this.#random.next() < 0.3) bystander?.block(long / 2, this.#random.next())
    switch (kind) {
      case 'busy loop':
        holder.block(long, this.#between(80, 100) / 100, this.#random.next() * 0.2)
        return [holder.id]
      case 'collection':
        holder.block(long, 0.98, this.#between(70, 98) / 100)
        return [holder.id]
      case 'SIGSTOP':
        holder.block(long, 0, 0, this.#random.next() < 0.3 ? 'suspended' : 'stopped')
        return [holder.id]
      case 'cut':
        return this.#cut(holder, this.#random.next() < 0.5 ? 'hanging' : 'resetting', long)
      case 'credentials':
        return this.#cut(holder, 'unauthorised', long)
      case 'slow store':
        this.#slowDown(long)
        return []
      case 'clock step':
        this.#stepClock(holder)
        return []
      case 'deleted key':
        await this.#server.store.delete('job')
        return []
      case 'break':
        await this.#server.store.break('job', { period: this.#between(0, 2_000) })
        return []
      case 'fail-over':
        this.#failOver(long)
        return []
      case 'crash':
        holder.crash(this.#random.next() < 0.3 ? 1 : undefined)
        return [holder.id]
      case 'one owner': {
        this.#server.knowsOwnersOnly = true
        const twin = this.#start(holder.owner)
        twin.work()
        this.#time.schedule(ttl, () => twin.crash())
        return [holder.id, twin.id]
      }
    }
  }

  /** A store that was asked by the holder first renews a grant that has just ended: the clock is then set again. */
  #stepClock(holder: SimulatedService): void {
    const token = holder.lease.fencingToken
    const step = (): void => {
      if (holder.lease.fencingToken !== token) return
      this.#server.ahead += this.#between(1.1 * this.#ttl, 2 * this.#ttl)
      this.#time.schedule(this.#between(1_000, this.#ttl / 4), step)
    }
    step()
  }

  #cut(holder: SimulatedService, line: SimulatedService['line'], duration: number): readonly string[] {
    holder.line = line
    this.#time.schedule(duration, () => {
      if (holder.line === line) holder.line = 'open'
    })
    return [holder.id]
  }

  /** It becomes slow by and by. */
  #slowDown(duration: number): void {
    const { operationTimeout } = this.#holder.lease.settings.timeouts
    const { latency } = this.#server
    this.#server.latency = () => operationTimeout * (0.3 + this.#random.next() * 0.6)
    this.#time.schedule(this.#ttl / 2, () => {
      this.#server.latency = () => operationTimeout * (1.2 + this.#random.next() * 2)
    })
    this.#time.schedule(this.#ttl / 2 + duration, () => {
      this.#server.latency = latency
    })
  }

  /** Short: the replica does not have the last writes. Long: it has all, but too late. */
  #failOver(duration: number): void {
    this.#server.isDown = true
    const isShort = this.#random.next() < 0.5
    this.#time.schedule(isShort ? this.#ttl * 0.4 : duration, () => {
      if (isShort) void this.#server.store.delete('job')
      this.#server.isDown = false
    })
  }

  async comeToRest(): Promise<void> {
    await this.#time.advance(5 * this.#ttl)
  }

  /** Those that were written, and one more of each process that lives. */
  files(): readonly string[] {
    for (const service of this.#services) if (!service.isDead) service.recorder.write()
    return this.#services.flatMap(({ files }) => files)
  }
}
