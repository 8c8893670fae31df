import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Account } from './server-account.js'
import type { ServerClock } from './server-clock.js'

/**
 * Waits until its input ends, which happens when the test process exits in any way, and then kills the server with its
 * children, which may be stopped.
 */
const WATCHDOG = 'read -r _; kill -9 "$1" $(cat "/proc/$1/task/$1/children" 2>/dev/null)'

export interface ServerProcessOptions {
  /** The user that runs it; that of this process unless given. */
  readonly account?: Account | undefined
  /** Its working folder; that of this process unless given. */
  readonly cwd?: string
  /** That of the machine unless given. */
  readonly clock?: ServerClock | undefined
}

/** A server in a process of its own, which does not outlive the process of the tests. */
export class ServerProcess {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #watchdog: ChildProcess

  private constructor(child: ChildProcess, pid: number) {
    this.#child = child
    this.pid = pid
    this.#watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'watchdog', String(pid)], {
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#watchdog.unref()
  }

  /** Appends the output of the program to the file. */
  static async spawn(
    program: string,
    args: readonly string[],
    log: string,
    { account, clock, ...options }: ServerProcessOptions = {},
  ): Promise<ServerProcess> {
    const output = openSync(log, 'a')
    try {
      const env = { ...process.env, ...clock?.environment }
      const child = spawn(program, args, { ...account, ...options, env, stdio: ['ignore', output, output] })
      await once(child, 'spawn')
      clock?.seenBy(child.pid ?? 0)
      return new ServerProcess(child, child.pid ?? 0)
    } finally {
      closeSync(output)
    }
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Ends it with SIGKILL, which ends a stopped process too, or with another signal; resolves when it has exited. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.hasEnded) {
      const exited = once(this.#child, 'exit')
      this.#child.kill(signal)
      await exited
    }
    this.#watchdog.kill('SIGKILL')
  }
}
