import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A real redis-server on a free port, in a temporary folder, which keeps nothing. */
export class RedisServer {
  readonly port: number
  readonly #process: ChildProcess
  readonly #folder: string

  private constructor(port: number, process: ChildProcess, folder: string) {
    this.port = port
    this.#process = process
    this.#folder = folder
  }

  static async start(): Promise<RedisServer> {
    const port = await freePort()
    const folder = await mkdtemp(join(tmpdir(), 'leasehold-bench-redis-'))
    const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder]
    const options = [...where, '--save', '', '--appendonly', 'no', '--daemonize', 'no']
    const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] })
    const failed = once(child, 'error').then(([error]) => {
      throw new Error('redis-server cannot be started: the benchmark needs it in the PATH', { cause: error })
    })
    await Promise.race([failed, readiness(child)])
    failed.catch(() => {})
    return new RedisServer(port, child, folder)
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    await ended
    await rm(this.#folder, { recursive: true, force: true })
  }
}

async function readiness(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error('its output is piped')
  const lines = createInterface(child.stdout)
  for await (const line of lines) {
    if (line.includes('Ready to accept connections')) {
      // What it says later must be read as well, or its pipe fills up.
      child.stdout.resume()
      return
    }
  }
  throw new Error('redis-server ended before it was ready')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
