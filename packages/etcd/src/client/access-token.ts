import type { StoreCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import { isOldToken, isRpcError } from './rpc-error.js'

/** The token of a user, made at the first use, and again when the server does not take it any more. */
export class AccessToken<T> {
  readonly #authenticate: () => Promise<T>
  #current: Promise<T | undefined> | undefined

  /** `authenticate` gets a token from the server. */
  constructor(authenticate: () => Promise<T>) {
    this.#authenticate = authenticate
  }

  /** Sends a request with the token; once more with a new token, if the server does not take it any more. */
  async with<A>(send: (token: T | undefined) => Promise<A>, call: StoreCall): Promise<A> {
    const current = this.#get()
    try {
      return await send(await untilAborted(current, call))
    } catch (error) {
      if (!isOldToken(error) || call.aborted) throw error
      this.forget(current)
      return await send(await untilAborted(this.#get(), call))
    }
  }

  /** The token as it is now, for streams. */
  get(call: StoreCall): Promise<T | undefined> {
    return untilAborted(this.#get(), call)
  }

  /** Makes the next request get a new token, unless another request has begun to. */
  forget(token = this.#current): void {
    if (this.#current === token) this.#current = undefined
  }

  #get(): Promise<T | undefined> {
    if (this.#current === undefined) {
      const current = this.#authenticate().catch((error: unknown) => {
        // The servers let everybody in.
        if (isRpcError(error) && error.details.includes('authentication is not enabled')) return undefined
        this.forget(current)
        throw error
      })
      this.#current = current
    }
    return this.#current
  }
}
