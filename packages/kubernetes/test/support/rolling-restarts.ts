import { setTimeout as sleep } from 'node:timers/promises'
import { machineTime } from '@leasehold/core/store-kit'
import { startClientGo } from './client-go-process.js'
import { Election } from './election.js'
import type { ElectorProcess } from './elector-process.js'

/**
 * The settings of both sides, in milliseconds. `LeaseDuration` is longer than `RetryPeriod + 2 × RenewDeadline`, as
 * docs/migrating/from-client-go.md asks for.
 */
const SHARED_TIMES = {
  leasehold: { heartbeatTimeout: 5_000, heartbeatInterval: 1_000, operationTimeout: 1_000 },
  clientGo: { lease: 5_000, deadline: 1_500, retry: 500 },
} as const

/** The replicas of the deployment. */
const REPLICAS = 4

/** Somebody must lead within this time, in milliseconds. */
const PATIENCE = 60_000

type Kind = 'Go' | 'Leasehold'

/** A time in which an elector led, on the monotonic clock of the machine, in milliseconds. */
interface Term {
  readonly kind: Kind
  readonly owner: string
  readonly from: number
  /** Infinite while it leads. For a process that was killed: when it was seen to be gone. */
  readonly to: number
  /** How it ended. `lost`: it said that it leads no more without having been asked to end. */
  readonly end: 'SIGKILL' | 'SIGTERM' | 'lost' | 'leads'
}

/** A time without a leader, in milliseconds, between two terms. */
interface Gap {
  readonly length: number
  readonly after: Term
  readonly before: Term
}

export interface RestartReport {
  /** Sentences about terms that overlapped: there must be none. */
  readonly overlaps: readonly string[]
  /** The longest time without a leader, in milliseconds. */
  readonly longestGap: number
  readonly restarts: number
  /** How many terms there were, such as `Go, SIGTERM: 12, longest gap 830 ms`, by who led and how the term ended. */
  readonly terms: readonly string[]
  /** How often the lease went from one kind to the other. */
  readonly changes: number
}

interface Replica {
  readonly kind: Kind
  readonly owner: string
  readonly process: ElectorProcess
  signal?: 'SIGKILL' | 'SIGTERM'
}

/**
 * A deployment that changes from Go electors to those of this package, or back, in each round: its replicas are replaced one by
 * one, while the others contend for the lease. Every other process ends with SIGTERM, so that a leader releases its lease; the
 * others with SIGKILL. The next one ends when its successor contends and somebody leads.
 */
export class RollingRestarts {
  readonly #server: { readonly port: number; ca(): string }
  readonly #name: string
  readonly #election: Election
  readonly #all: Replica[] = []
  #replicas: Replica[] = []

  private constructor(server: { readonly port: number; ca(): string }, name: string, election: Election) {
    this.#server = server
    this.#name = name
    this.#election = election
  }

  /** Runs it on a real server. `folder`: for the files of the processes. */
  static async run(
    server: { readonly port: number; ca(): string },
    options: { readonly name: string; readonly rounds: number; readonly folder: string },
  ): Promise<RestartReport> {
    const { name, rounds, folder } = options
    const place = { port: server.port, ca: server.ca(), layout: 'lease', name, times: SHARED_TIMES.leasehold } as const
    const restarts = new RollingRestarts(server, name, await Election.at(place, folder))
    try {
      await restarts.#run(rounds)
    } finally {
      for (const { process } of restarts.#all) await process.end('SIGKILL')
    }
    return reportOf(restarts.#all)
  }

  async #run(rounds: number): Promise<void> {
    for (let place = 0; place < REPLICAS; place += 1) this.#replicas.push(await this.#start('Go'))
    for (let round = 0; round < rounds; round += 1) {
      for (const [place, old] of [...this.#replicas].entries()) {
        const [next] = await Promise.all([this.#start(round % 2 === 0 ? 'Leasehold' : 'Go'), this.#untilLed()])
        this.#replicas = this.#replicas.map((replica) => (replica === old ? next : replica))
        // In two rounds of the same direction, the same replica ends in both ways.
        old.signal = (place + Math.floor(round / 2)) % 2 === 0 ? 'SIGTERM' : 'SIGKILL'
        await old.process.end(old.signal)
      }
    }
    await this.#untilLed()
  }

  /** Resolves when it contends. */
  async #start(kind: Kind): Promise<Replica> {
    const owner = `${kind}-${this.#all.length}`
    const { port } = this.#server
    const process =
      kind === 'Go' ? startClientGo(port, this.#name, owner, SHARED_TIMES.clientGo) : await this.#election.start(owner)
    const replica: Replica = { kind, owner, process }
    this.#all.push(replica)
    await process.tells('waiting')
    return replica
  }

  async #untilLed(): Promise<void> {
    const until = machineTime() + PATIENCE
    while (!this.#all.some(({ process }) => process.leads)) {
      if (machineTime() > until) throw new Error(`nobody has led for ${PATIENCE} ms: ${this.#lastWords()}`)
      await sleep(10)
    }
  }

  #lastWords(): string {
    const running = this.#all.filter(({ signal }) => signal === undefined)
    return running.map(({ owner, process }) => `${owner}: ${JSON.stringify(process.told.at(-1))}`).join(', ')
  }
}

function reportOf(replicas: readonly Replica[]): RestartReport {
  const terms = replicas.flatMap(termsOf).sort((a, b) => a.from - b.from)
  const overlaps: string[] = []
  const gaps: Gap[] = []
  let before: Term | undefined
  for (const after of terms) {
    if (before !== undefined && before.to > after.from) {
      overlaps.push(`${before.owner} and ${after.owner} both led for ${before.to - after.from} ms`)
    } else if (before !== undefined) {
      gaps.push({ length: after.from - before.to, before, after })
    }
    if (before === undefined || after.to > before.to) before = after
  }
  return {
    overlaps,
    longestGap: longestOf(gaps),
    restarts: replicas.filter(({ signal }) => signal !== undefined).length,
    terms: shownTerms(terms, gaps),
    changes: gaps.filter(({ before, after }) => before.kind !== after.kind).length,
  }
}

function shownTerms(terms: readonly Term[], gaps: readonly Gap[]): string[] {
  const kindOf = ({ kind, end }: Term): string => `${kind}, ${end}`
  return [...new Set(terms.map(kindOf))].sort().map((kind) => {
    const count = terms.filter((term) => kindOf(term) === kind).length
    const longest = longestOf(gaps.filter(({ before }) => kindOf(before) === kind))
    return `${kind}: ${count}, longest gap ${longest.toFixed()} ms`
  })
}

function longestOf(gaps: readonly Gap[]): number {
  return Math.max(0, ...gaps.map(({ length }) => length))
}

function termsOf({ kind, owner, process, signal }: Replica): Term[] {
  const terms: Term[] = []
  for (const [place, { event, at }] of process.told.entries()) {
    if (event !== 'started') continue
    const stopped = process.told[place + 1]
    const isLast = place + 2 >= process.told.length
    const end = stopped === undefined ? (signal ?? 'leads') : isLast && signal === 'SIGTERM' ? signal : 'lost'
    const to = stopped?.at ?? (signal === undefined ? Number.POSITIVE_INFINITY : (process.endedAt ?? 0))
    terms.push({ kind, owner, from: at, to, end })
  }
  return terms
}
