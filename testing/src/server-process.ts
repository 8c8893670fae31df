import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'

/** Waits until its input ends, which happens when the test process exits in any way, and then kills the server. */
const WATCHDOG = 'read -r _; kill -9 "$1"'

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
  static async spawn(program: string, args: readonly string[], log: string): Promise<ServerProcess> {
    const output = openSync(log, 'a')
    try {
      const child = spawn(program, args, { stdio: ['ignore', output, output] })
      await once(child, 'spawn')
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

  /** Ends it with SIGKILL, which ends a stopped process too; resolves when it has exited. */
  async end(): Promise<void> {
    if (!this.hasEnded) {
      const exited = once(this.#child, 'exit')
      this.#child.kill('SIGKILL')
      await exited
    }
    this.#watchdog.kill('SIGKILL')
  }
}
