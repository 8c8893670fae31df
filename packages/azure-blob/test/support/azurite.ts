import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { BlobServiceClient, type ContainerClient, type StoragePipelineOptions } from '@azure/storage-blob'
import { freePort } from '@leasehold/testing/free-port'
import type { ServerClock } from '@leasehold/testing/server-clock'

const main = createRequire(import.meta.url).resolve('azurite/dist/src/blob/main.js')
const keepConnections = new URL('./keep-connections.mjs', import.meta.url).href

/** Azurite's own account: a public constant, no secret. */
export const ACCOUNT = 'devstoreaccount1'
export const ACCOUNT_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

/** The storage of Azurite: in memory, or in a folder, so that it can be stopped and started again. */
export interface AzuriteOptions {
  readonly folder?: string
  readonly port?: number
  /** The files of a certificate and its key: it then speaks HTTPS, and takes tokens. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** That of the machine unless given. */
  readonly clock?: ServerClock | undefined
}

/** The real server, on a free port, in a process of its own. */
export class Azurite {
  readonly port: number
  readonly #process: ChildProcess

  private constructor(process: ChildProcess, port: number) {
    this.#process = process
    this.port = port
  }

  static async start({ folder, port, tls, clock }: AzuriteOptions = {}): Promise<Azurite> {
    const used = port ?? (await freePort())
    const place = folder === undefined ? ['--inMemoryPersistence'] : ['--location', folder]
    const security = tls === undefined ? [] : ['--oauth', 'basic', '--cert', tls.cert, '--key', tls.key]
    const options = [
      ...security,
      '--disableTelemetry',
      '--silent',
      '--skipApiVersionCheck',
      '--blobHost',
      '127.0.0.1',
      '--blobPort',
      `${used}`,
    ]
    const child = spawn(process.execPath, ['--import', keepConnections, main, ...place, ...options], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...clock?.environment },
    })
    clock?.seenBy(child.pid ?? 0)
    let said = ''
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (text) => {
        said += text
        if (said.includes('successfully listens')) resolve()
      })
      child.once('exit', () => reject(new Error(`azurite did not start: ${said}`)))
    })
    // Its log has to be read, or it blocks.
    child.stdout.removeAllListeners('data').resume()
    return new Azurite(child, used)
  }

  /** The connection string of the server, or of a proxy in front of it. */
  connectionString(port = this.port): string {
    const endpoint = `http://127.0.0.1:${port}/${ACCOUNT}`
    return `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${ACCOUNT_KEY};BlobEndpoint=${endpoint};`
  }

  /** A client, by default without retries, so that tests see failures. */
  service(options: StoragePipelineOptions = { retryOptions: { maxTries: 1 } }, port = this.port): BlobServiceClient {
    return BlobServiceClient.fromConnectionString(this.connectionString(port), options)
  }

  container(name: string): ContainerClient {
    return this.service().getContainerClient(name)
  }

  /** SIGSTOP and SIGCONT: it is frozen, and goes on. */
  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** SIGTERM lets it save its folder; SIGKILL if its data is not needed. */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const exited = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#process.kill(signal)
    await exited
  }
}
