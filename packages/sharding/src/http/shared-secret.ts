import { createHmac } from 'node:crypto'
import { SecretText } from '@leasehold/core/internal'

/** The secret that the processes of a region share. The secret itself does not travel: a code does that is derived from it. */
export class SharedSecret {
  readonly #expected: SecretText
  /** The header `authorization` of a request. */
  readonly header: string

  constructor(secret: string) {
    this.header = `Bearer ${createHmac('sha256', secret).update('leasehold sharding').digest('base64url')}`
    this.#expected = new SecretText(this.header)
  }

  /** Whether a request has the secret. How long it takes says nothing about the right one. */
  isIn(header: string | undefined): boolean {
    return this.#expected.is(header)
  }
}
