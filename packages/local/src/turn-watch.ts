/** One who waits to be woken. Woken more than once before it looks, it looks once. */
export class TurnWatch {
  readonly grantId: string | undefined
  readonly #onEnd: () => void
  #woken = false
  #ended = false
  #answer: ((goesOn: boolean) => void) | undefined

  constructor(grantId: string | undefined, onEnd: () => void) {
    this.grantId = grantId
    this.#onEnd = onEnd
  }

  wake(): void {
    this.#woken = true
    this.#settle()
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#onEnd()
    this.#settle()
  }

  /** Resolves `true` once woken, `false` once ended. One call at a time. */
  next(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#answer = resolve
      this.#settle()
    })
  }

  #settle(): void {
    if (this.#answer === undefined || !(this.#woken || this.#ended)) return
    const answer = this.#answer
    this.#answer = undefined
    this.#woken = false
    answer(!this.#ended)
  }
}
