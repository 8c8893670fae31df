import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter, on } from 'node:events'
import type { Order, Report, Status } from './messages.js'

/** The condition of a worker process. */
export type Condition = 'running' | 'stopped' | 'killed' | 'ended'

/** One worker process, as seen by the demo script. */
export class WorkerProcess {
  readonly name: string
  condition: Condition = 'running'
  status: Status | undefined
  readonly #process: ChildProcess
  readonly #exited: Promise<void>

  constructor(name: string, program: URL, folder: string, reports: EventEmitter) {
    this.name = name
    this.#process = fork(program, [folder, name], {
      execArgv: ['--import', 'tsx', '--conditions', '@leasehold/source'],
    })
    this.#process.on('message', (report: Report) => {
      if (report.type === 'status') this.status = report
      reports.emit('report', this, report)
    })
    this.#exited = new Promise((resolve) => this.#process.once('exit', () => resolve()))
  }

  send(order: Order): void {
    if (this.condition !== 'killed' && this.condition !== 'ended') this.#process.send(order, () => {})
  }

  /** Makes the process send itself SIGSTOP. SIGCONT continues it. */
  stop(): void {
    this.send({ type: 'stop' })
    this.condition = 'stopped'
  }

  signal(signal: NodeJS.Signals, condition: Condition): void {
    this.condition = condition
    this.#process.kill(signal)
  }

  async exited(): Promise<void> {
    await this.#exited
  }
}

/** A report of a type, and its sender. */
export interface Received<T extends Report['type']> {
  readonly worker: WorkerProcess
  readonly report: Extract<Report, { type: T }>
}

/** The worker processes and their reports. */
export class Fleet {
  readonly workers: readonly WorkerProcess[]
  readonly #reports = new EventEmitter()
  readonly #longest: number
  readonly #stopped: AbortSignal
  #holder: WorkerProcess | undefined

  /**
   * `longest`: the maximum time that the script waits for a report, in milliseconds. `stopped` ends every wait for a
   * report.
   */
  constructor(names: readonly string[], program: URL, folder: string, longest: number, stopped: AbortSignal) {
    this.#longest = longest
    this.#stopped = stopped
    this.workers = names.map((name) => new WorkerProcess(name, program, folder, this.#reports))
    this.#reports.on('report', (worker: WorkerProcess, report: Report) => {
      if (report.type === 'granted') this.#holder = worker
    })
  }

  /** The process with the latest grant. */
  get holder(): WorkerProcess {
    if (this.#holder === undefined) throw new Error('no process has been granted the lease yet')
    return this.#holder
  }

  /** Resolves with the next report of a type that is `wanted`, from one worker or from any worker. */
  nextReport<T extends Report['type']>(
    type: T,
    from?: WorkerProcess,
    wanted: (report: Received<T>['report']) => boolean = () => true,
  ): Promise<Received<T>> {
    const report = this.#nextReport(type, from, wanted)
    // The script asks for some reports before it waits for them. An early failure must not be unhandled.
    report.catch(() => {})
    return report
  }

  async #nextReport<T extends Report['type']>(
    type: T,
    from: WorkerProcess | undefined,
    wanted: (report: Received<T>['report']) => boolean,
  ): Promise<Received<T>> {
    const signal = AbortSignal.any([this.#stopped, AbortSignal.timeout(this.#longest)])
    for await (const [worker, report] of on(this.#reports, 'report', { signal })) {
      const isOfThem = report.type === type && (from === undefined || worker === from)
      if (isOfThem && wanted(report)) return { worker, report }
    }
    throw new Error(`no worker sent a report '${type}'`)
  }

  sendToAll(order: Order): void {
    for (const worker of this.workers) worker.send(order)
  }

  /** Ends all remaining processes with a signal. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const left = this.workers.filter(({ condition }) => condition === 'running' || condition === 'stopped')
    for (const worker of left) worker.signal(signal, 'ended')
    await Promise.all(left.map((worker) => worker.exited()))
  }
}
