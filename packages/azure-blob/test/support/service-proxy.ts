import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A request as it came by. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  /** When the client says that it was sent. */
  readonly date: string | undefined
  /** Such as `renew`; only of lease operations. */
  readonly leaseAction: string | undefined
  readonly clientRequestId: string | undefined
  /** Whether the client gave it up before it was answered. */
  abandoned: boolean
}

export type Behaviour =
  /** Passed on after a while; its answer is passed back after another. Milliseconds. */
  | { readonly kind: 'delay'; readonly before?: number; readonly after?: number }
  /** The service applies the request, and then the connection is reset. */
  | { readonly kind: 'drop-response' }
  /** The connection is reset, and the service never hears of it. */
  | { readonly kind: 'reset' }
  /** Nothing is passed on, nothing comes back. */
  | { readonly kind: 'black-hole' }
  /** Answered without the service. */
  | { readonly kind: 'answer'; readonly status: number; readonly headers?: Record<string, string> }

export type Rule = (request: SeenRequest) => Behaviour | undefined

/** A proxy between the clients and the server that applies a rule to each request. */
export class ServiceProxy {
  readonly requests: SeenRequest[] = []
  readonly #server: Server
  #rule: Rule = () => undefined

  private constructor(target: number) {
    this.#server = createServer((incoming, answer) => void this.#handle(incoming, answer, target))
  }

  /** In front of the given port of this machine, on a port of its own. */
  static async start(target: number): Promise<ServiceProxy> {
    const proxy = new ServiceProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  behave(rule: Rule): void {
    this.#rule = rule
  }

  heal(): void {
    this.#rule = () => undefined
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #handle(incoming: IncomingMessage, answer: ServerResponse, target: number): Promise<void> {
    const { method = '', url = '', headers } = incoming
    const leaseAction = headers['x-ms-lease-action']?.toString()
    const date = headers['x-ms-date']?.toString()
    const clientRequestId = headers['x-ms-client-request-id']?.toString()
    const seen: SeenRequest = { method, url, date, leaseAction, clientRequestId, abandoned: false }
    this.requests.push(seen)
    answer.once('close', () => {
      seen.abandoned = !answer.writableFinished
    })
    const behaviour = this.#rule(seen)
    if (behaviour?.kind === 'black-hole') return
    if (behaviour?.kind === 'reset') return void incoming.socket.resetAndDestroy()
    if (behaviour?.kind === 'answer') return void answer.writeHead(behaviour.status, behaviour.headers).end()
    if (behaviour?.kind === 'delay') await pause(behaviour.before ?? 0)
    const onward = request({ host: '127.0.0.1', port: target, method, path: url, headers })
    onward.once('error', () => incoming.socket.destroy())
    onward.once('response', async (response) => {
      if (behaviour?.kind === 'drop-response') return void incoming.socket.resetAndDestroy()
      if (behaviour?.kind === 'delay') await pause(behaviour.after ?? 0)
      answer.writeHead(response.statusCode ?? 500, response.headers)
      response.pipe(answer)
    })
    incoming.pipe(onward)
  }
}
