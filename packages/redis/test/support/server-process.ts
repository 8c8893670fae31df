import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'

/** Until its input ends, which it does when the process that holds the other end has gone, however it went. */
const GUARD = 'read -r _; kill -9 "$1"'

/** A server in a process of its own, which does not outlive the process of the tests. */
export class ServerProcess {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #guard: ChildProcess

  private constructor(child: ChildProcess, pid: number) {
    this.#child = child
    this.pid = pid
    this.#guard = spawn('/bin/sh', ['-c', GUARD, 'guard', String(pid)], { stdio: ['pipe', 'ignore', 'ignore'] })
    this.#guard.unref()
  }

  /** Its output is appended to the file. */
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

  /** By SIGKILL, which a stopped process obeys too; resolves when it has gone. */
  async end(): Promise<void> {
    if (!this.hasEnded) {
      const exited = once(this.#child, 'exit')
      this.#child.kill('SIGKILL')
      await exited
    }
    this.#guard.kill('SIGKILL')
  }
}
