/** A text that must not be guessed. */
export class SecretText {
  readonly #expected: Uint8Array

  constructor(text: string) {
    this.#expected = fingerprintOf(text)
  }

  /** Whether a text is this one. How long it takes says nothing about the right one. */
  is(text: string | undefined): boolean {
    const { timingSafeEqual } = process.getBuiltinModule('node:crypto')
    return text !== undefined && timingSafeEqual(fingerprintOf(text), this.#expected)
  }
}

/** Texts of any length as ones of the same length, which can be compared in constant time. */
function fingerprintOf(text: string): Uint8Array {
  const { createHmac } = process.getBuiltinModule('node:crypto')
  return createHmac('sha256', 'leasehold').update(text).digest()
}
