import { createHmac, timingSafeEqual } from 'node:crypto'

/** The secret that the processes of a region share. The secret itself does not travel: a code does that is derived from it. */
export class SharedSecret {
  readonly #expected: Buffer
  /** The header `authorization` of a request. */
  readonly header: string

  constructor(secret: string) {
    this.header = `Bearer ${createHmac('sha256', secret).update('leasehold sharding').digest('base64url')}`
    this.#expected = fingerprintOf(this.header)
  }

  /** Whether a request has the secret. How long it takes says nothing about the right one. */
  isIn(header: string | undefined): boolean {
    return header !== undefined && timingSafeEqual(fingerprintOf(header), this.#expected)
  }
}

/** Texts of any length as ones of the same length, which can be compared in constant time. */
function fingerprintOf(text: string): Buffer {
  return createHmac('sha256', 'leasehold').update(text).digest()
}
