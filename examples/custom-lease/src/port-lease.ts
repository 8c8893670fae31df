// #region lease
import { createServer, type Server } from 'node:net'
import { type AcquireOptions, Lease, type LeaseLost, LeaseSettings, LeaseUnavailableError } from '@leasehold/core'

/**
 * A lease on a port of this machine: the process that listens on the port is the holder. The kernel frees the port when
 * the process dies, so the lease needs no heartbeat and does not expire. There is no fencing token. Two names may share a
 * port.
 */
export class PortLease extends Lease {
  readonly #port: number
  #server: Server | undefined
  #attempt: Promise<boolean> | undefined
  #onLost: ((lost: LeaseLost) => void)[] = []

  constructor(name: string, port: number) {
    super(new LeaseSettings({ name }))
    this.#port = port
  }

  override async acquire({ onLost, signal }: AcquireOptions = {}): Promise<boolean> {
    signal?.throwIfAborted()
    if (!this.checkLease()) {
      this.#attempt ??= this.#listen().finally(() => {
        this.#attempt = undefined
      })
      if (!(await this.#attempt)) return false
    }
    if (onLost !== undefined) this.#onLost.push(onLost)
    return true
  }

  override async release(): Promise<boolean> {
    if (this.#attempt !== undefined) await this.#attempt
    const server = this.#server
    this.#server = undefined
    this.#onLost = []
    if (server !== undefined) await new Promise((resolve) => server.close(resolve))
    return true
  }

  override checkLease(): boolean {
    return this.#server?.listening === true
  }

  #listen(): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const server = createServer((socket) => socket.destroy())
      server.once('error', (cause: NodeJS.ErrnoException) => {
        if (cause.code === 'EADDRINUSE') resolve(false)
        else reject(new LeaseUnavailableError(`port ${this.#port} cannot be used: ${cause.message}`, { cause }))
      })
      server.listen({ port: this.#port, host: '127.0.0.1', exclusive: true }, () => {
        this.#server = server.unref()
        server.once('close', () => this.#lose(server))
        resolve(true)
      })
    })
  }

  /** Reports a port that was closed without a release. */
  #lose(server: Server): void {
    if (this.#server !== server) return
    this.#server = undefined
    for (const onLost of this.#onLost.splice(0)) onLost({ reason: 'closed' })
  }
}
// #endregion lease
