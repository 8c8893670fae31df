import { LeaseError, LeaseUnauthorisedError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { untilAborted, wallTime } from '@leasehold/core/store-kit'
import type { S3Credentials } from './signature.js'

/** Credentials are asked for again this long before they expire, in milliseconds. */
const BEFORE_EXPIRY = 300_000

/** Credentials, or a function that resolves with those of the moment. */
export type S3CredentialsSource = S3Credentials | (() => S3Credentials | Promise<S3Credentials>)

/**
 * The credentials of the moment. A function is called again when its credentials are about to expire or were refused, and
 * for each request if they do not say when they expire.
 */
export class CurrentCredentials {
  readonly #source: S3CredentialsSource
  #kept: Promise<S3Credentials> | undefined
  #expiration = 0

  constructor(source: S3CredentialsSource) {
    this.#source = source
  }

  /** Rejects with a `LeaseUnauthorisedError` if the function fails or returns no keys. */
  async get(call: StoreCall): Promise<S3Credentials> {
    const source = this.#source
    if (typeof source !== 'function') return source
    if (this.#kept === undefined || wallTime() > this.#expiration - BEFORE_EXPIRY) {
      // Until it is known, requests that come at once share the call.
      this.#expiration = Number.POSITIVE_INFINITY
      this.#kept = this.#ask(source)
    }
    return await untilAborted(this.#kept, call)
  }

  /** The service has refused these credentials. */
  forget(refused: S3Credentials): void {
    void this.#kept?.then(
      (kept) => {
        if (kept === refused) this.#kept = undefined
      },
      () => {},
    )
  }

  async #ask(source: () => S3Credentials | Promise<S3Credentials>): Promise<S3Credentials> {
    try {
      const found = await source()
      if (typeof found?.accessKeyId !== 'string' || typeof found.secretAccessKey !== 'string') {
        throw new TypeError('it must return { accessKeyId, secretAccessKey }')
      }
      this.#expiration = found.expiration?.getTime() ?? 0
      return found
    } catch (cause) {
      this.#kept = undefined
      if (cause instanceof LeaseError) throw cause
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new LeaseUnauthorisedError(`the function 'credentials' gave no credentials: ${reason}`, {
        store: 's3',
        cause,
      })
    }
  }
}
