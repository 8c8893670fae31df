import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LeaseStore } from '@leasehold/core'
import { type Finishing, silentLogger } from '@leasehold/testing'
import { LeaseUi, type LeaseUiOptions } from '@leasehold/ui'

/** Long enough for a token, and found in no other text. */
export const TOKEN = 'kX2-vYq0_7uT4sWz9RbN'

/** A server of this process with the page of a store, which can go away and come back on the same port. */
export class UiServer {
  readonly #store: LeaseStore
  readonly #options: LeaseUiOptions
  #ui: LeaseUi | undefined
  #server: Server | undefined
  #port = 0

  private constructor(store: LeaseStore, options: LeaseUiOptions) {
    this.#store = store
    this.#options = options
  }

  /** The access is by `TOKEN`, and may write, unless the options say otherwise. */
  static async start(test: Finishing, store: LeaseStore, options: LeaseUiOptions = {}): Promise<UiServer> {
    const access = options.authorize === undefined ? { token: TOKEN, writable: true } : {}
    const server = new UiServer(store, { interval: 250, logger: silentLogger, ...access, ...options })
    test.onTestFinished(() => server.stop())
    await server.start()
    return server
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Where the page is. */
  get url(): string {
    const { path = '/' } = this.#options
    return `${this.origin}${path.endsWith('/') ? path : `${path}/`}`
  }

  /** As a link that somebody has been sent. */
  get urlWithToken(): string {
    return `${this.url}#token=${TOKEN}`
  }

  async start(): Promise<void> {
    const ui = new LeaseUi(this.#store, this.#options)
    const server = createServer((request: IncomingMessage, response: ServerResponse) => {
      void ui.handle(request, response)
    })
    server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#port = (server.address() as AddressInfo).port
    this.#ui = ui
    this.#server = server
  }

  /** Ends all connections at once, as the end of its process would. */
  async stop(): Promise<void> {
    const [ui, server] = [this.#ui, this.#server]
    if (ui === undefined || server === undefined) return
    this.#ui = undefined
    this.#server = undefined
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
    await ui.close()
  }
}
