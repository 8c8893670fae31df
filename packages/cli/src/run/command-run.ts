import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { isatty } from 'node:tty'
import { type Clock, type Held, LeaseLostError } from '@leasehold/core'
import type { CommandEnd, LossReason } from './command-end.js'
import { CommandProcesses } from './command-processes.js'
import { type EndPlan, type EndTimes, endPlanOf, isTimeUp, timeTo } from './end-plan.js'
import { type MachineInstant, machineNow } from './machine-clock.js'
import type { Notices } from './notices.js'
import { runIdsWith, runIdVariable, startOfThisProcess } from './process-table.js'
import type { SignalRelay } from './signal-relay.js'
import type { WatchdogLink } from './watchdog-link.js'

/** Everything that a command needs beside its grant. */
export interface CommandSurroundings {
  /** The name of the lease, and its owner. */
  readonly name: string
  readonly owner: string
  /** The program and its arguments. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly times: EndTimes
  /** For how long a grant is held at most, and how long its acquisition may have taken before, in milliseconds. */
  readonly hold: { readonly longest: number; readonly operationTimeout: number }
  readonly clock: Clock
  readonly watchdog: WatchdogLink
  readonly notices: Notices
  readonly signals: SignalRelay
}

/**
 * The pause until the next look at the end of the validity: this part of the time until the command has to end, but at
 * least this number of milliseconds. Heartbeats move that end, and the watchdog has to know it in time.
 */
const NEXT_LOOK = 1 / 4
const LEAST_PAUSE = 20

/** Signals that a terminal sends to a whole process group. */
const ofTerminals: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT', 'SIGTSTP', 'SIGCONT', 'SIGWINCH'])

/** Signals that mean something to one program only, and end those that do not know them. */
const ofPrograms: ReadonlySet<NodeJS.Signals> = new Set(['SIGUSR1', 'SIGUSR2'])

/**
 * One run of the command under one grant. With a terminal, the command is in the process group of `leasehold`: the job that
 * the shell made, so that Ctrl-C, Ctrl-Z, `fg` and reading from the terminal work as without `leasehold`. Without a
 * terminal, it has a session and a process group of its own.
 */
export class CommandRun {
  readonly #around: CommandSurroundings
  readonly #held: Held
  readonly #processes: CommandProcesses
  readonly #mark = { runId: randomUUID(), since: startOfThisProcess() }
  readonly #hasOwnGroup = ![0, 1, 2].some((descriptor) => isatty(descriptor))
  readonly #heldSince: number
  #killAt: MachineInstant | undefined
  #loss: LossReason | undefined
  #ending: Promise<void> | undefined
  #isStarted = false
  #isOver = false
  #cancel: (() => void) | undefined

  constructor(held: Held, around: CommandSurroundings) {
    const { pid } = around.watchdog
    this.#held = held
    this.#around = around
    this.#heldSince = around.clock.now()
    this.#processes = new CommandProcesses(this.#mark, pid === undefined ? [] : [pid])
  }

  /**
   * Runs the command, but never under a grant that was lost. Resolves when nothing of it is alive. `variables` are added to
   * its environment. Rejects, and starts nothing, with a `WatchdogError`, and with the reason of `signals.stop` if a signal
   * came before the start.
   */
  async run(variables: Readonly<Record<string, string>>): Promise<CommandEnd> {
    const { watchdog, times, signals } = this.#around
    const { signal } = this.#held
    const onLost = (): void => this.#lose(signal.reason)
    signal.addEventListener('abort', onLost)
    try {
      if (signal.aborted) onLost()
      else await watchdog.arm({ mark: this.#mark, killAfter: times.killAfter, plan: this.#plan() }, signals.stop)
      this.#look()
      signals.stop.throwIfAborted()
      if (this.#loss !== undefined) return { type: 'lost', reason: this.#loss }
      const end = await this.#spawn(variables)
      if (end.type !== 'unstartable') {
        // If this process was stopped, it may see that the command has ended before it sees that the deadline is over. Then
        // the watchdog has ended the command.
        this.#look()
        await this.#endRest()
      }
      await this.#ending
      return this.#loss === undefined ? end : { type: 'lost', reason: this.#loss }
    } finally {
      this.#isOver = true
      signals.direct(undefined)
      signal.removeEventListener('abort', onLost)
      this.#cancel?.()
      watchdog.disarm()
    }
  }

  /** Passes a signal of `leasehold` on. With a terminal, the command has had those of the terminal already. */
  forward(signal: NodeJS.Signals): void {
    if (this.#isOver) return
    if (ofPrograms.has(signal)) this.#processes.signalRoot(signal)
    // Nothing but SIGSTOP stops a process group whose session has no terminal.
    else if (this.#hasOwnGroup) this.#processes.signal(signal === 'SIGTSTP' ? 'SIGSTOP' : signal)
    else if (!ofTerminals.has(signal)) this.#processes.signal(signal)
  }

  /** Ends the command after the loss of the lease: while the name is certainly locked, or at once. */
  #lose(error: unknown): void {
    const { reason, lockedUntil = Number.NEGATIVE_INFINITY } =
      error instanceof LeaseLostError ? error : { reason: 'closed' as const }
    this.#end(reason, this.#plan(lockedUntil))
  }

  #plan(until = this.#held.validUntil ?? 0): EndPlan {
    // The clock of the machine is read first: a pause between the two reads then makes the plan earlier, not later.
    const now = machineNow()
    return endPlanOf(now, until - this.#around.clock.now(), this.#around.times)
  }

  /** Looks at the end of the validity, and ends the command when its time has come. */
  #look(): void {
    if (this.#loss !== undefined || this.#isOver) return
    const plan = this.#plan()
    this.#killAt = plan.killAt
    this.#around.watchdog.update({ plan })
    this.#cancel?.()
    const left = timeTo(plan.terminateAt, machineNow())
    const pause = Math.min(left, Math.max(left * NEXT_LOOK, LEAST_PAUSE))
    if (left > 0) this.#cancel = this.#around.clock.schedule(pause, () => this.#look())
    else this.#end(this.#isHeldToTheEnd ? 'max-hold' : 'late', plan)
  }

  /** Whether the validity ends because the grant was held for as long as it may be, and not for lack of heartbeats. */
  get #isHeldToTheEnd(): boolean {
    const { longest, operationTimeout } = this.#around.hold
    // The longest hold counts from before the request was sent.
    return (this.#held.validUntil ?? 0) >= this.#heldSince + longest - operationTimeout
  }

  /** Ends the command, only once. */
  #end(reason: LossReason, plan: EndPlan): void {
    this.#cancel?.()
    if (this.#isOver) return
    if (this.#loss !== undefined) {
      // The lease is lost for good while the command is being ended: the command may now have less time.
      const now = machineNow()
      if (timeTo(plan.killAt, now) >= timeTo(this.#killAt, now)) return
      this.#killAt = plan.killAt
      this.#around.watchdog.update({ plan })
      return
    }
    this.#loss = reason
    this.#killAt = plan.killAt
    if (this.#isStarted) this.#ending = this.#terminate(plan)
  }

  async #terminate(plan: EndPlan): Promise<void> {
    const { watchdog, times } = this.#around
    const start = machineNow()
    watchdog.update({ plan, isEnding: true })
    await this.#processes.end(() => isTimeUp(start, times.killAfter, this.#killAt))
  }

  async #spawn(variables: Readonly<Record<string, string>>): Promise<CommandEnd> {
    const { watchdog, signals, command } = this.#around
    const [program = ''] = command
    const child = this.#start(variables)
    if (child instanceof Error) return { type: 'unstartable', program, error: child }
    const ended = new Promise<CommandEnd>((resolve) => {
      child.once('error', (error) => resolve({ type: 'unstartable', program, error }))
      child.once('exit', (code, signal) => {
        this.#processes.rootReaped()
        watchdog.update({ isReaped: true })
        resolve(signal === null ? { type: 'exited', code: code ?? 0 } : { type: 'signalled', signal })
      })
    })
    if (child.pid !== undefined) {
      const root = { pid: child.pid, hasOwnGroup: this.#hasOwnGroup }
      this.#processes.begin(root)
      watchdog.update({ root })
      this.#isStarted = true
      signals.direct(this)
      // The process may have been stopped just before.
      this.#look()
    }
    return await ended
  }

  /** The process, or the error if the system refuses at once, as it does for arguments that are too long. */
  #start(variables: Readonly<Record<string, string>>): ChildProcess | Error {
    const { command, env, name, owner } = this.#around
    const { fencingToken = '' } = this.#held
    const [program = '', ...args] = command
    const runIds = runIdsWith(this.#mark.runId, env[runIdVariable])
    try {
      return spawn(program, args, {
        stdio: 'inherit',
        detached: this.#hasOwnGroup,
        env: {
          ...env,
          LEASEHOLD_NAME: name,
          LEASEHOLD_OWNER: owner,
          LEASEHOLD_FENCING_TOKEN: String(fencingToken),
          LEASEHOLD_VALID_UNTIL: this.#validUntil(),
          ...variables,
          [runIdVariable]: runIds,
        },
      })
    } catch (error) {
      return error as Error
    }
  }

  /** By the wall clock, for people: it can be set, and the lease is usually renewed before. */
  #validUntil(): string {
    const { clock } = this.#around
    const left = (this.#held.validUntil ?? 0) - clock.now()
    const wall = clock.wall?.()
    return wall === undefined || !Number.isFinite(left) ? 'never' : new Date(wall + left).toISOString()
  }

  /** Ends the processes that the command has left behind. */
  async #endRest(): Promise<void> {
    if (this.#ending !== undefined) return
    const left = this.#processes.alive()
    if (left.length === 0) return
    const start = machineNow()
    const { times, notices } = this.#around
    const [some, them] = left.length === 1 ? ['a process', 'it'] : [`${left.length} processes`, 'them']
    notices.say(`the command has left ${some} running: ending ${them}`)
    await this.#processes.end(() => this.#loss !== undefined || isTimeUp(start, times.killAfter, this.#killAt))
  }
}
