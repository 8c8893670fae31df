import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually, type Finishing } from '@leasehold/testing'
import { freePort } from '@leasehold/testing/free-port'

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
  static async start(test: Finishing, folder: string, env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
    const port = await freePort()
    const child = spawn(process.execPath, ['src/main.js'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HEARTBEAT_TIMEOUT: '3000', ...env, PORT: String(port) },
    })
    test.onTestFinished(() => void child.kill('SIGKILL'))
    return new ServiceProcess(child, port)
  }

  /** Resolves when it has printed this after the place `from`. */
  async prints(pattern: RegExp, from = 0): Promise<void> {
    await eventually(`the service prints ${pattern}`, async () => pattern.test(this.printed.slice(from))).catch(
      (error) => {
        throw new Error(`${error.message}; it has printed:\n${this.printed}`)
      },
    )
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
