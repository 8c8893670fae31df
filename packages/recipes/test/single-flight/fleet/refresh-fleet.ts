import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { type FamilyTokens, TokenFamily } from './token-family.js'

/** The task of one process. Durations are milliseconds. */
export interface RefresherTask {
  readonly folder: string
  readonly owner: string
  /** How many values there are: each has tokens of its own. */
  readonly accounts: number
  readonly ttl: number
  readonly freshFor: number
  readonly staleFor: number
}

export type ToParent =
  | {
      readonly event: 'refresh'
      readonly account: number
      readonly previous: FamilyTokens | undefined
      readonly interrupted: boolean
    }
  | { readonly event: 'waited'; readonly waited: number }
  | { readonly event: 'failed' }

export interface FromParent {
  readonly account: number
  readonly tokens: FamilyTokens | undefined
}

export interface RefreshFleetOptions extends Omit<RefresherTask, 'owner'> {
  /** The file of the program `refresher`, and the options of Node to run it. */
  readonly program: string
  readonly execArgv: readonly string[]
  readonly processes: number
  /** How long a refresh takes. */
  readonly refreshTime: number
}

/** A process in the middle of a refresh is killed, or stopped for two ttls, after this many refreshes each. */
export interface FleetFaults {
  readonly killEvery: number
  readonly stopEvery: number
}

/** Processes that share values, and the identity provider that they get them from. */
export class RefreshFleet {
  readonly family = new TokenFamily()
  /** How long callers waited, in milliseconds; without those that waited while a process started or was down. */
  readonly waits: number[] = []
  kills = 0
  stops = 0
  /** The refreshes that were in progress in a process that was killed or stopped. */
  disturbed = 0
  failures = 0
  refreshes = 0
  interrupted = 0
  /** Refreshes of a value that another refresh had begun, and that were not told so. */
  repeated = 0
  readonly #options: RefreshFleetOptions
  readonly #faults: FleetFaults
  readonly #children = new Map<string, ChildProcess>()
  readonly #refreshed = new Set<string>()
  /** How many refreshes of each process are in progress. */
  readonly #refreshing = new Map<ChildProcess, number>()
  readonly #timers = new Set<() => void>()
  #started = 0
  /** Waits count again from this instant on. */
  #calmAt = 0
  #isEnding = false

  constructor(options: RefreshFleetOptions, faults: FleetFaults) {
    this.#options = options
    this.#faults = faults
  }

  /** Runs until there were this many refreshes and all faults, or until `longest` milliseconds have passed. Ends all processes. */
  async run(refreshes: number, longest: number): Promise<void> {
    for (let count = 0; count < this.#options.processes; count += 1) this.#start()
    const end = systemClock.now() + longest
    // The programs start.
    this.#calmAt = systemClock.now() + 3 * this.#options.ttl
    try {
      while (systemClock.now() < end && this.refreshes < refreshes) {
        await pause(10)
      }
    } finally {
      this.#isEnding = true
      for (const cancel of this.#timers) cancel()
      const exits = Array.from(this.#children.values(), (child) => {
        const exited = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        return exited
      })
      await Promise.all(exits)
    }
  }

  #start(): void {
    this.#started += 1
    const owner = `process-${this.#started}`
    const { program, execArgv, folder, accounts, ttl, freshFor, staleFor } = this.#options
    const task: RefresherTask = { folder, owner, accounts, ttl, freshFor, staleFor }
    const child = fork(program, [JSON.stringify(task)], { execArgv: [...execArgv] })
    this.#children.set(owner, child)
    child.on('message', (message) => this.#onMessage(child, message as ToParent))
    child.once('exit', () => {
      this.#children.delete(owner)
      this.#refreshing.delete(child)
      if (!this.#isEnding) this.#start()
    })
  }

  #onMessage(child: ChildProcess, message: ToParent): void {
    if (message.event === 'refresh') this.#onRefresh(child, message)
    else if (message.event === 'failed') this.failures += 1
    else if (systemClock.now() - message.waited > this.#calmAt) this.waits.push(message.waited)
  }

  #onRefresh(child: ChildProcess, { account, previous, interrupted }: ToParent & { readonly event: 'refresh' }): void {
    this.refreshes += 1
    if (interrupted) this.interrupted += 1
    const value = `${account} ${previous?.refreshToken}`
    // The message of a process that was stopped comes after that of its successor, whose refresh is interrupted.
    if (!interrupted && this.#refreshed.has(value)) this.repeated += 1
    if (!interrupted) this.#refreshed.add(value)
    this.#refreshing.set(child, this.#refreshingIn(child) + 1)
    // A refresh token that may have been used is not used again: the session is begun anew.
    const tokens = previous === undefined || interrupted ? this.family.signIn() : this.family.refresh(previous)
    if (this.refreshes % this.#faults.killEvery === 0) this.#kill(child)
    else if (this.refreshes % this.#faults.stopEvery === 0) this.#stop(child)
    this.#later(this.#options.refreshTime, () => {
      this.#refreshing.set(child, this.#refreshingIn(child) - 1)
      // A process that was just killed is still connected: the failure is no event.
      if (child.connected) child.send({ account, tokens } satisfies FromParent, () => {})
    })
  }

  #kill(child: ChildProcess): void {
    this.kills += 1
    this.#disturb(child)
    child.kill('SIGKILL')
  }

  #stop(child: ChildProcess): void {
    this.stops += 1
    this.#disturb(child)
    child.kill('SIGSTOP')
    this.#later(2 * this.#options.ttl, () => child.kill('SIGCONT'))
  }

  #refreshingIn(child: ChildProcess): number {
    return this.#refreshing.get(child) ?? 0
  }

  #disturb(child: ChildProcess): void {
    this.disturbed += this.#refreshingIn(child)
    this.#calmAt = systemClock.now() + 3 * this.#options.ttl
  }

  #later(delay: number, task: () => unknown): void {
    const cancel = systemClock.schedule(delay, () => {
      this.#timers.delete(cancel)
      task()
    })
    this.#timers.add(cancel)
  }
}
