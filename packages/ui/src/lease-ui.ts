import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LeaseStore } from '@leasehold/core'
import { checkedUiOptions } from './checked-options.js'
import type { LeaseUiOptions } from './lease-ui-options.js'
import { builtPage } from './page/built-page.js'
import { answerFetch, callOfFetch } from './server/fetch-server.js'
import { answerNode, callOfNode } from './server/node-server.js'
import { UiEndpoint } from './server/ui-endpoint.js'

/**
 * A page that shows who holds which lease of a store. Mount `handle` or `fetch` into your server, for all methods of all paths
 * at and below `path`.
 *
 * It begins to look at the store with the first request, and does until `close`; it keeps no process alive. It shows what the
 * store said when it was last read, with the age of that: no rule of a lease depends on it.
 */
export class LeaseUi implements AsyncDisposable {
  readonly #endpoint: UiEndpoint
  readonly #path: string

  /** Throws a `LeaseConfigurationError` that says which option to change. */
  constructor(store: LeaseStore, options: LeaseUiOptions) {
    const checked = checkedUiOptions(store, options)
    this.#path = checked.path
    this.#endpoint = new UiEndpoint(store, checked, builtPage)
  }

  /**
   * For servers with the requests of `node:http`: Express and Nest take it as a middleware, and Fastify in an `onRequest` hook,
   * by `request.raw` and `reply.raw`. Calls `next` for other paths; without it, they are answered with 404.
   */
  readonly handle = (request: IncomingMessage, response: ServerResponse, next?: () => void): void => {
    const call = callOfNode(request, this.#path)
    if (call.place === undefined && next !== undefined) {
      next()
      return
    }
    const answering = this.#endpoint.answer(call).then((answer) => {
      if (answer === undefined && next !== undefined) next()
      else answerNode(request, response, answer ?? this.#endpoint.nothing())
    })
    // If the rest of the server throws, it costs this request, and not the process.
    answering.catch(() => response.destroy())
  }

  /** For servers with the requests of the Fetch API, such as Hono and Next. Other paths are answered with 404. Never rejects. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const answer = await this.#endpoint.answer(callOfFetch(request, this.#path))
    return answerFetch(request, answer ?? this.#endpoint.nothing())
  }

  /** Ends the open pages, and stops looking at the store, which stays open. Later requests are answered with 503. */
  async close(): Promise<void> {
    this.#endpoint.close()
  }

  /** Closes the page at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
