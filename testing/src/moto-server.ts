import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './eventually.js'
import { freePort } from './free-port.js'
import type { ServerClock } from './server-clock.js'
import { ServerProcess } from './server-process.js'
import { type ServerProgram, serverProgram } from './server-program.js'
import { StoppableServer } from './stoppable-server.js'

/** A program that runs moto, which answers as the services of AWS, on the given port of 127.0.0.1. Keeps the conditions of S3. */
export const motoProgram = serverProgram('MOTO', 'moto')

/** The moto of an older Debian: it accepts `If-Match` of a write to S3, and ignores it. */
export const oldMotoProgram = serverProgram('MOTO_OLD', 'moto', 'moto-old')

/**
 * A real moto of this machine: S3, DynamoDB and others at one address. It takes any credentials, and verifies no signature.
 * It keeps everything in its memory, and does not outlive the process of the tests.
 */
export class MotoServer extends StoppableServer {
  readonly port: number
  /** The endpoint of all services. */
  readonly url: string
  readonly #program: ServerProgram
  readonly #clock: ServerClock | undefined
  readonly #folder = mkdtempSync(join(tmpdir(), 'leasehold-moto-'))

  private constructor(program: ServerProgram, port: number, clock: ServerClock | undefined) {
    super()
    this.#program = program
    this.#clock = clock
    this.port = port
    this.url = `http://127.0.0.1:${port}`
  }

  /** Resolves when it answers. `clock`: that of the machine unless given. */
  static async start(program: ServerProgram = motoProgram, clock?: ServerClock): Promise<MotoServer> {
    const server = new MotoServer(program, await freePort(), clock)
    try {
      await server.start()
      return server
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  /** Starts it again, empty. */
  async start(): Promise<void> {
    const { path, whyNot } = this.#program
    if (path === undefined) throw new Error(whyNot)
    const log = join(this.#folder, 'moto.log')
    const started = await ServerProcess.spawn(path, [String(this.port)], log, { clock: this.#clock })
    this.process = started
    await eventually(`moto answers on ${this.port}`, async () => {
      if (started.hasEnded) return true
      const answer = await fetch(`${this.url}/moto-api/data.json`)
      await answer.body?.cancel()
      return answer.ok
    })
    if (started.hasEnded) throw new Error(`moto did not start: ${readFileSync(log, 'utf8').slice(-2_000)}`)
  }

  /** Ends it, and removes its log. */
  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
