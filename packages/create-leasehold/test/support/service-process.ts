import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Finishing } from '@leasehold/testing'
import { freePort } from '@leasehold/testing/free-port'
import { vi } from 'vitest'

/** Consul frees a name up to three ttls of 10 s after the last heartbeat of a process that was killed. */
const LONGEST = 90_000

/** A process of a service that was written by `create-leasehold`, on the packages as they were built. */
export class ServiceProcess {
  readonly #child: ChildProcess
  readonly port: number
  /** Its output and its errors, in the order in which they came. */
  printed = ''

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text) => {
        this.printed += text
      })
    }
  }

  /** Starts `npm start` without npm. */
  static async start(
    test: Finishing,
    folder: string,
    env: Readonly<Record<string, string>>,
    port?: number,
  ): Promise<ServiceProcess> {
    const used = port ?? (await freePort())
    const child = spawn(process.execPath, ['src/main.js'], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env, PORT: String(used) },
    })
    test.onTestFinished(() => void child.kill('SIGKILL'))
    return new ServiceProcess(child, used)
  }

  /** Resolves when it has printed this. */
  async prints(pattern: RegExp): Promise<void> {
    const printed = () => {
      if (!pattern.test(this.printed))
        throw new Error(`no ${pattern} in what the service has printed:\n${this.printed}`)
    }
    await vi.waitFor(printed, { timeout: LONGEST, interval: 50 })
  }

  /** The status of its answer at an address for probes. */
  async probe(path: string): Promise<number> {
    const { status } = await fetch(`http://127.0.0.1:${this.port}${path}`)
    return status
  }

  /** Ends it with a signal; resolves with its exit code. */
  async end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | null> {
    this.#child.kill(signal)
    return await this.ended()
  }

  /** Resolves with its exit code when it has ended by itself. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
    return this.#child.exitCode
  }
}
